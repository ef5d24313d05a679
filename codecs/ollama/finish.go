package ollama

import (
	"github.com/toolconform/conform/codecs"
)

// finishes maps done_reason. Ollama reports stop for a turn with calls; load
// and unload answer requests that only load or unload a model.
var finishes = map[string]string{
	"stop":   codecs.FinishStop,
	"length": codecs.FinishLength,
	"load":   codecs.FinishStop,
	"unload": codecs.FinishStop,
}

// rawFinish is the reverse of the finish table; stop stands in for a reason that
// the wire lacks.
func rawFinish(finish string) string {
	switch finish {
	case "":
		return ""
	case codecs.FinishLength:
		return "length"
	}
	return "stop"
}
