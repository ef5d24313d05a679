package engines

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/internal/jsonx"
)

// Restore undoes in a received request what Client.Body moved and removed, so
// that the codec of the dialect can read it: values go back to where they came
// from, and a model that was taken out is put in. Values that an edit set stay;
// a codec carries them as extra keys. A replay server needs it for engines whose
// wire is the dialect in another wrapping.
func (e Engine) Restore(body []byte, model string) ([]byte, error) {
	root, err := jsonx.Parse(body)
	if err != nil || !root.IsObject() {
		return body, err
	}
	for i := len(e.BodySet) - 1; i >= 0; i-- {
		s := e.BodySet[i]
		moved := jsonx.Of(body).Lookup(s.Pointer)
		if s.From == "" || !moved.Exists() {
			continue
		}
		value := moved.Raw()
		if s.Text {
			text, _ := moved.Text()
			if err := jsonx.Check([]byte(text)); err != nil {
				return nil, fmt.Errorf("engine %s: %s holds no JSON: %w", e.Name, s.Pointer, err)
			}
			value = jsonx.Raw(text)
		}
		if body, err = jsonx.Set(body, s.From, value); err != nil {
			return nil, fmt.Errorf("engine %s: %w", e.Name, err)
		}
		if body, err = jsonx.Delete(body, s.Pointer); err != nil {
			return nil, fmt.Errorf("engine %s: %w", e.Name, err)
		}
	}
	if slices.Contains(e.BodyRemove, "/model") && !jsonx.Of(body).Get("model").Exists() {
		return jsonx.Set(body, "/model", jsonx.Quote(model))
	}
	return body, nil
}
