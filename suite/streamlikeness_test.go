package suite

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
)

// streamCount counts, over the recorded streams of one engine, what the ways of a
// likeness say. A stream of one or two chunks tells nothing of its role.
type streamCount struct{ streams, usageOwn, usageFinish, long, role, calls, whole, done int }

func (n *streamCount) add(stream string) {
	type chunk struct {
		Choices []struct {
			Delta struct {
				Role  *string
				Calls []struct {
					Function struct{ Name string }
				} `json:"tool_calls"`
			}
		}
		Usage json.RawMessage
	}
	n.streams++
	var chunks, roles, pieces, named int
	last := ""
	for line := range strings.Lines(strings.ReplaceAll(stream, "\r\n", "\n")) {
		data, ok := strings.CutPrefix(line, "data:")
		if data = strings.TrimSpace(data); !ok {
			continue
		}
		if data == "[DONE]" {
			n.done++
			continue
		}
		var c chunk
		if json.Unmarshal([]byte(data), &c) != nil {
			continue
		}
		if len(c.Usage) > 0 && string(c.Usage) != "null" {
			last = "finish"
			if len(c.Choices) == 0 {
				last = "own"
			}
		}
		for _, choice := range c.Choices {
			chunks++
			if choice.Delta.Role != nil {
				roles++
			}
			for _, call := range choice.Delta.Calls {
				pieces++
				if call.Function.Name != "" {
					named++
				}
			}
		}
	}
	switch last {
	case "own":
		n.usageOwn++
	case "finish":
		n.usageFinish++
	}
	if chunks > 2 {
		n.long++
		if roles*10 > chunks*8 {
			n.role++
		}
	}
	if pieces > 0 {
		n.calls++
		if named == pieces {
			n.whole++
		}
	}
}

// TestStreamLikeness holds the ways of the streams of an engine against what most
// of its recorded ones do.
func TestStreamLikeness(t *testing.T) {
	const dir = "../../shared/recordings/openai"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: %v", err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]*streamCount{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !cassettes.IsRecording(path) {
			return err
		}
		rec, err := cassettes.ReadRecording(path)
		if err != nil {
			return nil // no recording
		}
		name := map[string]string{"ollama": "ollama-openai", "llamacpp": "llama-server"}[rec.Provider]
		if name == "" {
			name = rec.Provider
		}
		for _, x := range rec.Exchanges {
			if x.Response.Status == 200 && strings.Contains(string(x.Response.Body[:min(len(x.Response.Body), 2000)]), "data:") {
				if counts[name] == nil {
					counts[name] = &streamCount{}
				}
				counts[name].add(string(x.Response.Body))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for name, n := range counts {
		e, err := catalog.Lookup(name)
		if err != nil || e.Dialect != codecs.OpenAI || e.Likeness == nil || n.streams < 4 {
			continue
		}
		held++
		ways := e.Resolve("").Likeness.Stream
		for way, most := range map[string]bool{
			"usage_finish": n.usageFinish > n.usageOwn, "role_each": n.role*2 > n.long, "done_missing": n.done*2 < n.streams, "calls_whole": n.whole*2 > n.calls,
		} {
			if way == "calls_whole" && n.calls == 0 {
				continue
			}
			if slices.Contains(ways, way) != most {
				t.Errorf("%s: %s is %v for most of its recorded streams: %+v", name, way, most, *n)
			}
		}
	}
	if held < 12 {
		t.Errorf("only %d engines", held)
	}
}
