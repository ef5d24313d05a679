package hermes

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
)

// RenderStream encodes a turn as chunks of a chat completion, its markup cut like
// any text. A host with a form of its own sends no streams.
func (c Codec) RenderStream(r codecs.Reply, p codecs.Profile, l codecs.Likeness, _ string) ([][]byte, []codecs.Warning, error) {
	if _, standard := contentAt(p); !standard {
		return nil, nil, fmt.Errorf("a host of hermes whose text stands elsewhere than in a chat completion sends no streams")
	}
	body, warnings, err := c.RenderReply(r, p, l)
	if err != nil {
		return nil, nil, err
	}
	frames, err := openai.Chunks(c, body, p, l)
	return frames, warnings, err
}
