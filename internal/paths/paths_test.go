package paths_test

import (
	"encoding/json"
	"testing"

	"github.com/toolconform/conform/internal/paths"
)

func TestFind(t *testing.T) {
	var v any
	if err := json.Unmarshal([]byte(`{"a":{"b":[{"c":"x","d":""},{"c":"image/png","e":null,"l":[]},{"c":"xy","d":"z"}]},"type":"done"}`), &v); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a/b/*/c":              `["x","image/png","xy"]`,
		"a/b/1/c":              `["image/png"]`,
		"a/b/*/d|c":            `["x","image/png","z"]`,
		"a/b/*[c=x]/d":         `[""]`,
		"a/b/*[c=x|xy]/c":      `["x","xy"]`,
		"a/b/*/c[^image/]":     `["image/png"]`,
		"a/b/*[c~ag]/c":        `["image/png"]`,
		".[type=done]/a/b/0/c": `["x"]`,
		".[type=open]/a":       `null`,
		"type[=done]":          `["done"]`,
		"a/b/9/c":              `null`,
		"a/b/*/e":              `null`,
		"a/*":                  `null`,
		"a/b/*[c]/c":           `null`,
		".":                    `[{"a":{"b":[{"c":"x","d":""},{"c":"image/png","e":null,"l":[]},{"c":"xy","d":"z"}]},"type":"done"}]`,
	} {
		got, err := json.Marshal(paths.Find(v, path))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if paths.First(v, "a/b/*/c") != "x" || paths.First(v, "z") != nil {
		t.Error("First")
	}
}
