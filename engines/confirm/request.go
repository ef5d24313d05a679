package confirm

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// request is what a request shows.
type request struct {
	resultImage, resultPDF bool   // inside a tool result
	reasoning              bool   // in an assistant turn
	choice                 string // auto, any, none, tool or ""
}

func readRequest(dialect string, v jsonx.Value) request {
	var r request
	switch codecs.Dialect(dialect) {
	case codecs.OpenAI, codecs.Hermes, codecs.Ollama:
		for _, m := range v.Get("messages").Items() {
			r.chat(m)
		}
	case codecs.Anthropic:
		for _, m := range v.Get("messages").Items() {
			for _, b := range m.Get("content").Items() {
				switch b.Get("type").Str() {
				case "tool_result":
					for _, p := range b.Get("content").Items() {
						r.resultImage = r.resultImage || p.Get("type").Str() == "image"
						r.resultPDF = r.resultPDF || p.Get("type").Str() == "document" && isPDF(p.Get("source"))
					}
				case "thinking", "redacted_thinking":
					r.reasoning = true
				}
			}
		}
	case codecs.Gemini:
		for _, c := range v.Get("contents").Items() {
			for _, p := range c.Get("parts").Items() {
				r.reasoning = r.reasoning || either(p, "thoughtSignature", "thought_signature").Str() != ""
				for _, m := range either(p, "functionResponse", "function_response").Get("parts").Items() {
					media := either(m, "inlineData", "inline_data")
					if !media.Exists() {
						media = either(m, "fileData", "file_data")
					}
					mime := either(media, "mimeType", "mime_type").Str()
					r.resultImage = r.resultImage || strings.HasPrefix(mime, "image/")
					r.resultPDF = r.resultPDF || mime == "application/pdf"
				}
			}
		}
	case codecs.Responses:
		for _, it := range v.Get("input").Items() {
			switch it.Get("type").Str() {
			case "reasoning":
				r.reasoning = true
			case "function_call_output":
				for _, p := range it.Get("output").Items() {
					r.resultImage = r.resultImage || p.Get("type").Str() == "input_image"
					r.resultPDF = r.resultPDF || p.Get("type").Str() == "input_file" && isPDF(p)
				}
			}
		}
	}
	r.choice = choice(v)
	return r
}

// chat reads one message of a chat dialect.
func (r *request) chat(m jsonx.Value) {
	switch m.Get("role").Str() {
	case "tool":
		r.resultImage = r.resultImage || m.Get("images").Len() > 0
		for _, p := range m.Get("content").Items() {
			r.resultImage = r.resultImage || p.Get("type").Str() == "image_url"
			r.resultPDF = r.resultPDF || p.Get("type").Str() == "file" && isPDF(p.Get("file"))
		}
	case "assistant":
		for _, key := range []string{"reasoning_content", "reasoning", "reasoning_details", "thinking"} {
			x := m.Get(key)
			r.reasoning = r.reasoning || x.Str() != "" || x.Len() > 0
		}
		for _, p := range m.Get("content").Items() {
			r.reasoning = r.reasoning || p.Get("type").Str() == "thinking"
		}
	}
}

func isPDF(v jsonx.Value) bool {
	if either(v, "media_type", "mime_type").Str() == "application/pdf" {
		return true
	}
	for _, key := range []string{"file_data", "file_url", "url", "filename"} {
		s := v.Get(key).Str()
		if strings.HasPrefix(s, "data:application/pdf") || strings.HasSuffix(s, ".pdf") {
			return true
		}
	}
	return false
}

func either(v jsonx.Value, a, b string) jsonx.Value {
	if x := v.Get(a); x.Exists() {
		return x
	}
	return v.Get(b)
}

// choice reads the tool choice of any dialect.
func choice(v jsonx.Value) string {
	t := v.Get("tool_choice")
	word := t.Str()
	if t.IsObject() {
		word = t.Get("type").Str()
	}
	if !t.Exists() {
		mode := either(either(v, "toolConfig", "tool_config"), "functionCallingConfig", "function_calling_config")
		word = strings.ToLower(mode.Get("mode").Str())
		if either(mode, "allowedFunctionNames", "allowed_function_names").Len() == 1 {
			word = "tool"
		}
	}
	switch word {
	case "auto", "any", "none", "tool":
		return word
	case "required":
		return "any"
	case "function":
		return "tool"
	}
	return ""
}
