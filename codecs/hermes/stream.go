package hermes

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
)

// Stream reads the stream of the transport. Markup never gets into a delta of
// text: the start of a tag is held back, and so is an open block, whose call the
// reply has. Source: spec 2.10, row SM11.
func (c Codec) Stream(p codecs.Profile) codecs.Decoder { return openai.NewStream(c, p, scanner(p)) }
