package engines_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
)

func load(t *testing.T) *engines.Catalog {
	t.Helper()
	c, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lookup(t *testing.T, name string) engines.Engine {
	t.Helper()
	e, err := load(t).Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCatalogueHoldsTheEngines(t *testing.T) {
	c := load(t)
	if n := len(c.All()); n < 48 {
		t.Errorf("%d engines, want at least 48", n)
	}
	for _, name := range strings.Fields(`openai openai-responses anthropic gemini ollama ollama-openai
		ollama-anthropic ollama-responses ollama-hermes llama-server llama-server-anthropic
		llama-server-responses llama-server-hermes perplexity deepseek mistral groq cerebras openrouter
		xai minimax minimax-anthropic moonshot moonshot-anthropic nousresearch aki aki-openai
		aki-anthropic huggingface replicate scaleway tsystems hetzner vllm sglang lmstudio
		lmstudio-anthropic azure-openai azure-openai-anthropic azure-openai-responses vertex
		vertex-anthropic bedrock venice zai copilot vercel-gateway gpustack doubleword ollama-cloud
		azure-ai xai-responses chatgpt deepseek-anthropic deepseek-responses`) {
		if _, err := c.Lookup(name); err != nil {
			t.Error(err)
		}
	}
}

func TestOrder(t *testing.T) {
	var heads []string
	last := codecs.Dialect("")
	all := load(t).All()
	for i, e := range all {
		if e.Dialect != last {
			heads, last = append(heads, e.Name), e.Dialect
		} else if i > 1 && all[i-1].Dialect == e.Dialect && !slices.Contains(heads, all[i-1].Name) && all[i-1].Name > e.Name {
			t.Errorf("%s stands before %s", all[i-1].Name, e.Name)
		}
	}
	want := []string{"openai", "anthropic", "gemini", "ollama", "openai-responses", "nousresearch"}
	if !slices.Equal(heads, want) {
		t.Errorf("first of each dialect = %q, want %q", heads, want)
	}
}

func TestLookupSuggests(t *testing.T) {
	c := load(t)
	if e, err := c.Lookup("DeepSeek"); err != nil || e.Name != "deepseek" {
		t.Errorf("Lookup ignores case: %v", err)
	}
	_, err := c.Lookup("deepsek")
	if err == nil || !strings.Contains(err.Error(), `did you mean "deepseek"`) {
		t.Errorf("error = %v", err)
	}
	_, err = c.Lookup("qqqqqq")
	if err == nil || !strings.Contains(err.Error(), "conform list engines") {
		t.Errorf("error = %v", err)
	}
}

// TestSchema: the schema knows every field of a profile, and no other.
func TestSchema(t *testing.T) {
	schema, err := engines.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Defs struct {
			Profile struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"profile"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &known); err != nil {
		t.Fatal(err)
	}
	for _, key := range engines.ProfileKeys() {
		if _, ok := known.Defs.Profile.Properties[key]; !ok {
			t.Errorf("schema.json lacks the profile field %s", key)
		}
	}
	if n, m := len(known.Defs.Profile.Properties), len(engines.ProfileKeys()); n != m {
		t.Errorf("schema.json has %d profile fields, codecs.Profile %d", n, m)
	}
}

// TestResolve has the rows on models of the source documents.
func TestResolve(t *testing.T) {
	for _, c := range []struct {
		engine, model string
		dialect       codecs.Dialect
		images, pdf   string
	}{
		// HT13, EG13: Hermes ids are asked in the prompt, others get native tools.
		{"nousresearch", "", codecs.Hermes, "placeholder", "placeholder"},
		{"nousresearch", "Hermes-4-70B", codecs.Hermes, "placeholder", "placeholder"},
		{"nousresearch", "nousresearch/hermes-3", codecs.Hermes, "placeholder", "placeholder"},
		{"nousresearch", "DeepHermes-3-Preview", codecs.Hermes, "placeholder", "placeholder"},
		{"nousresearch", "nous-hermes-2", codecs.Hermes, "placeholder", "placeholder"},
		{"nousresearch", "anthropic/claude-sonnet-5", codecs.OpenAI, "placeholder", "placeholder"},
		{"nousresearch", "other/hermes-like", codecs.OpenAI, "placeholder", "placeholder"},
		// RN18: Gemini 3 takes media natively.
		{"gemini", "", codecs.Gemini, "native", "native"},
		{"gemini", "gemini-3-flash-preview", codecs.Gemini, "native", "native"},
		{"gemini", "gemini-3.1-pro-preview", codecs.Gemini, "native", "native"},
		{"gemini", "gemini-3.8-flash", codecs.Gemini, "native", "native"},
		{"gemini", "models/gemini-3-pro-preview", codecs.Gemini, "native", "native"},
		{"vertex", "gemini-3-flash-preview", codecs.Gemini, "native", "native"},
		// RN19: these do not.
		{"gemini", "gemini-2.5-flash", codecs.Gemini, "placeholder", "placeholder"},
		{"gemini", "gemini-30-future", codecs.Gemini, "placeholder", "placeholder"},
		{"gemini", "gemma-3-27b-it", codecs.Gemini, "placeholder", "placeholder"},
		{"gemini", "gemini-3-flash-preview-tts", codecs.Gemini, "placeholder", "placeholder"},
		{"vertex", "gemini-2.0-flash", codecs.Gemini, "placeholder", "placeholder"},
		// RN20
		{"openai-responses", "gpt-5.6-terra", codecs.Responses, "native", "native"},
		{"openai-responses", "gpt-oss-120b", codecs.Responses, "placeholder", "placeholder"},
		// RN21
		{"perplexity", "openai/gpt-5.6", codecs.Responses, "native", "placeholder"},
		{"perplexity", "openai/gpt-oss-120b", codecs.Responses, "placeholder", "placeholder"},
		{"perplexity", "sonar", codecs.Responses, "placeholder", "placeholder"},
		// RA25, RA29 to RA32
		{"anthropic", "claude-sonnet-5", codecs.Anthropic, "native", "native"},
		{"minimax-anthropic", "MiniMax-M3", codecs.Anthropic, "native", "native"},
		{"minimax-anthropic", "MiniMax-M2.7", codecs.Anthropic, "placeholder", "native"},
		{"moonshot-anthropic", "kimi-k3", codecs.Anthropic, "native", "placeholder"},
		{"moonshot-anthropic", "kimi-k2.5", codecs.Anthropic, "placeholder", "placeholder"},
		{"aki-anthropic", "qwen3.8-max", codecs.Anthropic, "placeholder", "placeholder"},
		{"lmstudio-anthropic", "", codecs.Anthropic, "placeholder", "placeholder"},
	} {
		r := lookup(t, c.engine).Resolve(c.model)
		images, pdf := r.ResultMedia()
		if r.Dialect != c.dialect || images != c.images || pdf != c.pdf {
			t.Errorf("%s %q: %s, images %s, PDF %s; want %s, %s, %s", c.engine, c.model,
				r.Dialect, images, pdf, c.dialect, c.images, c.pdf)
		}
	}
}

func TestProfilesOfSingleEngines(t *testing.T) {
	profile := func(name, model string) codecs.Profile { return lookup(t, name).Resolve(model).Profile }
	// EG01, EG02
	if p := profile("deepseek", ""); p.ReasoningEcho != codecs.EchoRequiredEvenEmpty || !p.NoParallel || p.MaxTokensKey != "max_tokens" {
		t.Errorf("deepseek: %+v", p)
	}
	if p := profile("deepseek", "deepseek-chat"); p.ToolChoice != nil || p.ReasoningEcho != codecs.EchoIgnored {
		t.Errorf("deepseek-chat: null does not reset: %+v", p)
	}
	// EG03, CH11, CH12
	e := lookup(t, "perplexity").Resolve("")
	if p := e.Profile; !slices.Equal(p.ToolChoice, []string{"-"}) || !p.FlattenText || !p.TypedItems ||
		!slices.Equal(p.EchoItems, []string{"message", "function_call", "function_call_output"}) {
		t.Errorf("perplexity: %+v", p)
	}
	if len(e.Engine.BodySet) != 1 || e.Engine.BodySet[0].Pointer != "/preset" || !slices.Equal(e.Engine.BodyRemove, []string{"/model"}) {
		t.Errorf("perplexity sonar: %+v, %q", e.Engine.BodySet, e.Engine.BodyRemove)
	}
	if r := lookup(t, "perplexity").Resolve("openai/gpt-5.6"); len(r.Engine.BodySet) != 0 || len(r.Engine.BodyRemove) != 0 {
		t.Errorf("a model by name must go out as one: %+v", r.Engine.BodySet)
	}
	// RA18 to RA28: no source blocks in results
	for _, name := range []string{"aki-anthropic", "moonshot-anthropic", "lmstudio-anthropic"} {
		if p := profile(name, ""); p.ResultDocuments != codecs.MediaPlaceholder {
			t.Errorf("%s sends documents in results", name)
		}
	}
	if p := profile("minimax-anthropic", ""); p.ResultDocuments != "" {
		t.Error("minimax-anthropic takes documents")
	}
	// CH07, CH19
	for _, name := range []string{"deepseek", "moonshot", "huggingface", "replicate", "aki-openai", "gemini"} {
		if !profile(name, "").NoParallel {
			t.Errorf("%s has no parallel knob", name)
		}
	}
	for _, name := range []string{"ollama", "ollama-openai"} {
		if c := lookup(t, name).Resolve("").Choices(); c != nil {
			t.Errorf("%s takes no tool choice, got %q", name, c)
		}
	}
	if p := profile("mistral", ""); p.IDRule != "mistral9" || slices.Contains(p.EchoKeys, "reasoning_content") {
		t.Errorf("mistral: %+v", p)
	}
	for _, name := range []string{"ollama-openai", "dashscope", "minimax", "llama-server", "vllm"} {
		if profile(name, "").UndecodableEcho != codecs.UndecodableEmpty {
			t.Errorf("%s refuses undecodable arguments in the echo", name)
		}
	}
	// HT12
	if p := profile("aki", ""); p.ContentPointer != "/text" {
		t.Errorf("aki: %+v", p)
	}
}

func TestResolveSharesNothing(t *testing.T) {
	e := lookup(t, "deepseek")
	r := e.Resolve("deepseek-v4-pro")
	r.Profile.ToolChoice[0] = "changed"
	r.Profile.ReasoningFields[0] = "changed"
	if e.Profile.ToolChoice[0] != "auto" || e.Resolve("").Profile.ReasoningFields[0] != "reasoning_content" {
		t.Error("Resolve hands out the catalogue's own lists")
	}
}

func TestRulesOverride(t *testing.T) {
	e, err := engines.Parse([]byte(`{"name":"x","title":"X","family":"hosted","dialect":"openai","url":"{base}/c","auth":"none",
		"vars":{"base":"http://h"},"default_model":"m","facts":{},
		"profile":{"no_parallel":true,"echo_keys":["role"],"result_images":"native","tool_choice":["auto"],"id_rule":"mistral9"},
		"models":[
			{"match":"a*|B?","profile":{"no_parallel":false,"echo_keys":[],"result_images":"","tool_choice":null}},
			{"match":"a-late","profile":{"echo_keys":["role","content"]},"dialect":"hermes"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := e.Resolve("A1").Profile
	if p.NoParallel || p.EchoKeys == nil || len(p.EchoKeys) != 0 || p.ResultImages != "" || p.ToolChoice != nil || p.IDRule != "mistral9" {
		t.Errorf("A1: %+v", p)
	}
	if p := e.Resolve("bx").Profile; p.NoParallel {
		t.Error("the second alternative does not match")
	}
	if p := e.Resolve("bxx").Profile; !p.NoParallel {
		t.Error("? matches two characters")
	}
	r := e.Resolve("a-late")
	if r.Dialect != codecs.Hermes || len(r.Profile.EchoKeys) != 2 {
		t.Errorf("the last rule does not win: %+v", r)
	}
}

func TestParseNamesThePlace(t *testing.T) {
	entry := func(from, to string) string {
		return strings.Replace(`{"name":"x","title":"X","family":"hosted","dialect":"openai","url":"{base}/c","auth":"none",
			"vars":{"base":"http://h"},"default_model":"m","facts":{},"profile":{},"models":[{"match":"*","profile":{}}]}`, from, to, 1)
	}
	if _, err := engines.Parse([]byte(entry("", ""))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"auth":"none"`, `"auth":"basic"`, "/auth"},
		{`"auth":"none"`, `"auth":"header:"`, "/auth"},
		{`"auth":"none"`, `"auth":"command"`, "/command"},
		{`"dialect":"openai"`, `"dialect":"openia"`, "/dialect"},
		{`{base}/c`, `{base}/{region}`, "{region}"},
		{`"profile":{}}]`, `"profile":{"ech_keys":[]}}]`, "/models/0/profile"},
		{`"facts"`, `"fact"`, "fact"},
		{`"default_model":"m"`, `"default_model":""`, "default_model"},
		{`"profile":{},`, `"profile":{},"body_set":[{"pointer":"x","value":1}],`, "/body_set/0/pointer"},
		{`"profile":{},`, `"profile":{},"body_set":[{"pointer":"/x"}],`, "/body_set/0"},
		{`"profile":{},`, `"profile":{},"body_remove":["x"],`, "/body_remove/0"},
	} {
		if _, err := engines.Parse([]byte(entry(c.from, c.to))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want one that names %s", c.to, err, c.want)
		}
	}
	_, err := engines.LoadFS(fstest.MapFS{"y.json": {Data: []byte(entry("", ""))}, "z.json": {Data: []byte(`{`)}})
	if err == nil || !strings.Contains(err.Error(), "y.json") || !strings.Contains(err.Error(), "z.json") {
		t.Errorf("error = %v, want both files", err)
	}
}

func TestKeyVariables(t *testing.T) {
	e := lookup(t, "deepseek")
	if want := []string{"DEEPSEEK_API_KEY", "LANGERTHA_DEEPSEEK_API_KEY"}; !slices.Equal(e.Keys, want) {
		t.Errorf("keys = %q, want %q", e.Keys, want)
	}
	env := map[string]string{"LANGERTHA_DEEPSEEK_API_KEY": "k2"}
	if k, v := e.Key(func(n string) string { return env[n] }); k != "k2" || v != "LANGERTHA_DEEPSEEK_API_KEY" {
		t.Errorf("Key = %q from %q", k, v)
	}
	env["DEEPSEEK_API_KEY"] = "k1"
	if k, _ := e.Key(func(n string) string { return env[n] }); k != "k1" {
		t.Errorf("Key = %q, want that of the provider's own variable", k)
	}
	if k, v := e.Key(func(string) string { return "" }); k != "" || v != "" {
		t.Errorf("Key = %q from %q", k, v)
	}
	// The prefixed variable is that of the source documents, for the providers that
	// they know; a new engine has none.
	var prefixed []string
	for _, e := range load(t).All() {
		for i, name := range e.Keys {
			if name, ok := strings.CutPrefix(name, "LANGERTHA_"); ok && i == len(e.Keys)-1 && i > 0 && !slices.Contains(prefixed, name) {
				prefixed = append(prefixed, name)
			} else if ok && i == 0 {
				t.Errorf("%s: the provider's usual variable comes first: %q", e.Name, e.Keys)
			}
		}
	}
	slices.Sort(prefixed)
	want := strings.Fields("AKI ANTHROPIC CEREBRAS DEEPSEEK GEMINI GROQ HETZNER HUGGINGFACE LLAMACPP LMSTUDIO MINIMAX MISTRAL MOONSHOT NOUSRESEARCH OLLAMA OPENAI OPENROUTER PERPLEXITY REPLICATE SCALEWAY SGLANG TSYSTEMS VLLM XAI")
	for i := range want {
		want[i] += "_API_KEY"
	}
	if !slices.Equal(prefixed, want) {
		t.Errorf("prefixed variables\n%q, want\n%q", prefixed, want)
	}
}

// TestNothingSecret looks for what has the shape of a key or of a private place.
func TestNothingSecret(t *testing.T) {
	files, err := engines.Files()
	if err != nil {
		t.Fatal(err)
	}
	bad := regexp.MustCompile(`sk-[A-Za-z0-9]{8}|AIza[A-Za-z0-9_-]{10}|gsk_|xai-[A-Za-z0-9]{16}|Bearer |/home/|/work/|@[a-z]+\.com`)
	for name, b := range files {
		if m := bad.Find(b); m != nil {
			t.Errorf("%s holds %q", name, m)
		}
	}
}

// TestFactsOfAnotherModel: a fact that a rule says something else of is the
// rule's, with its source; in another dialect nothing else is known.
func TestFactsOfAnotherModel(t *testing.T) {
	for _, tt := range []struct{ engine, model, fact, want string }{
		{"llama-server-anthropic", "", "result_images", "placeholder"},
		{"llama-server-anthropic", "qwen3-vl-8b", "result_images", "native"},
		{"llama-server-anthropic", "qwen3-vl-8b", "cut_call", "empty_object"},
		{"nousresearch", "gpt-5.1", "dialect", "openai"},
		{"nousresearch", "gpt-5.1", "ids", engines.Unknown},
		{"nousresearch", "gpt-5.1", "cut_call", engines.Unknown},
		{"openai", "", "no_such_fact", engines.Unknown},
	} {
		f := lookup(t, tt.engine).Resolve(tt.model).Facts.Of(tt.fact)
		if f.Value != tt.want || f.Known() != (len(f.Origin.Source) > 0) {
			t.Errorf("%s %q: %s is %+v, want %s", tt.engine, tt.model, tt.fact, f, tt.want)
		}
	}
	if (engines.Fact{}).Known() {
		t.Error("a fact that nobody wrote down is known")
	}
}
