// Package all lists the codecs of every dialect.
package all

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/codecs/gemini"
	"github.com/toolconform/conform/codecs/hermes"
	"github.com/toolconform/conform/codecs/ollama"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/internal/suggest"
)

// Codecs returns one codec for each dialect, in the order of codecs.Dialects.
func Codecs() []codecs.Full {
	return []codecs.Full{openai.Codec{}, anthropic.Codec{}, gemini.Codec{}, ollama.Codec{}, responses.Codec{}, hermes.Codec{}}
}

// For returns the codec of a dialect. The error of an unknown one lists the
// dialects and says which one was probably meant.
func For(d codecs.Dialect) (codecs.Full, error) {
	var names []string
	for _, c := range Codecs() {
		if c.Dialect() == d {
			return c, nil
		}
		names = append(names, string(c.Dialect()))
	}
	return nil, fmt.Errorf("unknown dialect %.80q%s", d, suggest.Text(string(d), names))
}
