package engines_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
)

// TestFactsNameTheirOrigin: a known fact has one.
func TestFactsNameTheirOrigin(t *testing.T) {
	data, err := os.ReadFile("catalogue/openai.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range (engines.Facts{}).List() {
		at := "/facts/" + f.Name + "/origin"
		without, err := jsonx.Delete(bytes.Clone(data), at)
		if err != nil {
			t.Fatal(err)
		}
		found := engines.LintFS(fstest.MapFS{"openai.json": {Data: without}})
		if len(found) != 1 || !strings.HasPrefix(at, found[0].Pointer) || !strings.Contains(found[0].Text, "origin") {
			t.Errorf("%s without an origin: %v", f.Name, found)
		}
	}
}

func TestLint(t *testing.T) {
	if got := engines.Lint(); len(got) > 0 {
		t.Errorf("the catalogue has problems: %v", got)
	}
	data, err := os.ReadFile("catalogue/deepseek.json")
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		if strings.Count(string(data), old) != 1 {
			t.Fatalf("%q is not once in deepseek.json", old)
		}
		return strings.Replace(string(data), old, new, 1)
	}
	const file = "engines/catalogue/deepseek.json"
	for _, c := range []struct{ text, want string }{
		{edit(`"reasoning_echo": "required_even_empty"`, `"reasoning_echo": "requird"`), `/profile/reasoning_echo: "requird" is none of "", "required",`},
		{edit(`"reasoning_echo": "required_even_empty"`, `"reasoning_ecko": "required"`), `/profile/reasoning_ecko: unknown key; did you mean "reasoning_echo"`},
		{edit(`"reasoning_echo": "required_even_empty"`, `"reasoning_echo": "accepted"`), `/facts/reasoning_echo: the fact is "required_even_empty", the profile "accepted"`},
		{edit(`"reasoning_echo": "required_even_empty",`, ``), `/facts/reasoning_echo: the fact is "required_even_empty", and the profile does nothing about it`},
		{edit(`"name": "deepseek"`, `"name": "deepsea"`), `/name: is "deepsea", the file says "deepseek"`},
		{edit(`"DEEPSEEK_API_KEY",`, ``), ``},
		{edit(`"facts": {`, `"facts": {"result_image": {},`), `/facts/result_image: unknown key; did you mean "result_images"`},
		{edit(`"value": "openai",`, `"value": "gemini",`), `/facts/dialect: the fact is "gemini", the default model is reached in "openai"`},
		{edit(`"value": "openai",`, `"value": "unknown",`), `/facts/dialect/origin: is not allowed here`},
		{`{"name":`, `unexpected EOF`},
	} {
		var got []string
		for _, p := range engines.LintFS(fstest.MapFS{"deepseek.json": {Data: []byte(c.text)}}) {
			got = append(got, p.String())
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, c.want) || c.want == "" && all != "" || c.want != "" && !strings.HasPrefix(all, file) {
			t.Errorf("got %q, want one of %s with %q", got, file, c.want)
		}
	}
}
