package replay

import (
	"net/http"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// sideRoutes are the requests that clients make beside the conversation: which
// models there are, what version, how many tokens. A body is in the form of the
// provider that has the route; where several have it, it holds the keys of all.
// MODEL stands for the model.
var sideRoutes = []struct{ method, suffix, body string }{
	{http.MethodGet, "/api/version", `{"version":"0.0.0"}`},
	{http.MethodGet, "/api/tags", `{"models":[{"name":MODEL,"model":MODEL,"modified_at":"2026-01-01T00:00:00Z","size":0,"digest":"","details":{}}]}`},
	{http.MethodPost, "/api/show", `{"modelfile":"","template":"","details":{},"model_info":{},"capabilities":["completion","tools"]}`},
	{http.MethodPost, ":countTokens", `{"totalTokens":1}`},
	{http.MethodPost, "/messages/count_tokens", `{"input_tokens":1}`},
	{http.MethodGet, "/models", `{"object":"list","data":[` + oneModel + `],"has_more":false,"first_id":MODEL,"last_id":MODEL,"models":[` + oneModel + `]}`},
	{http.MethodGet, "/models/{model}", oneModel},
}

const oneModel = `{"id":MODEL,"object":"model","created":0,"owned_by":"conform","type":"model","display_name":MODEL,"created_at":"2026-01-01T00:00:00Z",` +
	`"name":MODELS_MODEL,"displayName":MODEL,"supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]}`

// sideAnswer answers a side request; ok is false for every other.
func sideAnswer(in codecs.In, model string) (codecs.Answer, bool) {
	path, method := strings.TrimRight(in.Path, "/"), in.Method
	if method == http.MethodHead { // asks what GET would say
		method = http.MethodGet
	}
	for _, r := range sideRoutes {
		if method != r.method || !fits(r.suffix, path) {
			continue
		}
		body := strings.NewReplacer(
			"MODELS_MODEL", string(jsonx.Quote("models/"+strings.TrimPrefix(model, "models/"))),
			"MODEL", string(jsonx.Quote(model))).Replace(r.body)
		return codecs.Answer{Status: http.StatusOK, Header: map[string][]string{"Content-Type": {"application/json"}}, Body: []byte(body)}, true
	}
	return codecs.Answer{}, false
}
