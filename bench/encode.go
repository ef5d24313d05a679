package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/toolconform/conform/codecs"
)

const schemaText = `{"type":"object","properties":{"harbour":{"type":"string","description":"name of the harbour"},"days":{"type":"integer"},"unit":{"type":"string","enum":["m","ft"]}},"required":["harbour"]}`

var schema = func() (m map[string]any) {
	if err := json.Unmarshal([]byte(schemaText), &m); err != nil {
		panic(err)
	}
	return m
}()

// conversation is what both sides encode: so many turns of user text, a text
// and two calls of the model, two results; ten tools. image is the size of the
// base64 of an image in the last result.
type conversation struct {
	name         string
	turns, image int
}

var conversations = []conversation{{"20-turns", 20, 0}, {"200-turns", 200, 0}, {"5MB-image", 1, 5_000_000}}

const perTurn = 2

var question, reason, answer = text(200), text(80), text(500)

func callID(d codecs.Dialect, turn, i int) string {
	if d == codecs.Anthropic {
		return fmt.Sprintf("toolu_%06d", turn*perTurn+i)
	}
	return fmt.Sprintf("call_%06d", turn*perTurn+i)
}

func toolName(i int) string { return fmt.Sprintf("get_tide_%d", i) }

func imageData(n int) []byte { return []byte(strings.Repeat("\x89PNG tide", n*3/4/9+1)) }

func block(s string) codecs.Raw {
	b, _ := json.Marshal(map[string]any{"type": "text", "text": s})
	return b
}

func neutral(d codecs.Dialect, c conversation) codecs.Request {
	req := codecs.Request{Model: "m-1", MaxTokens: 1000}
	for i := range 10 {
		req.Tools = append(req.Tools, codecs.Tool{Name: toolName(i), Description: "Tides of a harbour", InputSchema: codecs.Raw(schemaText)})
	}
	for t := range c.turns {
		user := codecs.Message{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: question}}}
		model := codecs.Message{Role: "assistant", Parts: []codecs.Part{{Kind: codecs.KindText, Text: reason}}}
		tool := codecs.Message{Role: "tool"}
		for i := range perTurn {
			a := arguments(i, 200)
			model.Parts = append(model.Parts, codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{Pos: i, ID: callID(d, t, i), Name: toolName(i), ArgumentsText: a, Arguments: codecs.Raw(a)}})
			r := codecs.ToolResult{ID: callID(d, t, i), Name: toolName(i), Content: []codecs.Raw{block(answer)}}
			if c.image > 0 && t == c.turns-1 && i == perTurn-1 {
				b, _ := json.Marshal(map[string]any{"type": "image", "mimeType": "image/png", "data": base64.StdEncoding.EncodeToString(imageData(c.image))})
				r.Content = append(r.Content, b)
			}
			tool.Parts = append(tool.Parts, codecs.Part{Kind: codecs.KindResult, Result: &r})
		}
		req.Messages = append(req.Messages, user, model, tool)
	}
	return req
}

// official builds the same conversation in the SDK's parameter types.
func official(d codecs.Dialect, c conversation) any {
	image := ""
	if c.image > 0 && d != codecs.Gemini {
		image = base64.StdEncoding.EncodeToString(imageData(c.image))
	}
	last := func(t, i int) bool { return c.image > 0 && t == c.turns-1 && i == perTurn-1 }
	switch d {
	case codecs.OpenAI:
		p := openai.ChatCompletionNewParams{Model: "m-1", MaxCompletionTokens: openai.Int(1000)}
		for i := range 10 {
			p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: toolName(i), Description: openai.String("Tides of a harbour"), Parameters: schema}))
		}
		for t := range c.turns {
			var m openai.ChatCompletionAssistantMessageParam
			m.Content.OfString = openai.String(reason)
			p.Messages = append(p.Messages, openai.UserMessage(question), openai.ChatCompletionMessageParamUnion{OfAssistant: &m})
			for i := range perTurn {
				m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: callID(d, t, i), Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: toolName(i), Arguments: arguments(i, 200)},
				}})
				p.Messages = append(p.Messages, openai.ToolMessage(answer, callID(d, t, i)))
				if last(t, i) {
					p.Messages = append(p.Messages, openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
						openai.TextContentPart("image of the result"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + image}),
					}))
				}
			}
		}
		return p
	case codecs.Responses:
		p := responses.ResponseNewParams{Model: "m-1", MaxOutputTokens: openai.Int(1000)}
		for i := range 10 {
			p.Tools = append(p.Tools, responses.ToolParamOfFunction(toolName(i), schema, false))
		}
		var in responses.ResponseInputParam
		for t := range c.turns {
			in = append(in, responses.ResponseInputItemParamOfMessage(question, "user"), responses.ResponseInputItemParamOfMessage(reason, "assistant"))
			for i := range perTurn {
				in = append(in, responses.ResponseInputItemParamOfFunctionCall(arguments(i, 200), callID(d, t, i), toolName(i)))
			}
			for i := range perTurn {
				var o responses.ResponseInputItemUnionParam
				if last(t, i) {
					o = responses.ResponseInputItemParamOfFunctionCallOutput(responses.ResponseFunctionCallOutputItemListParam{
						{OfInputText: &responses.ResponseInputTextContentParam{Text: answer}},
						{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt("data:image/png;base64," + image)}},
					})
				} else {
					o = responses.ResponseInputItemParamOfFunctionCallOutput(answer)
				}
				o.OfFunctionCallOutput.CallID = param.NewOpt(callID(d, t, i))
				in = append(in, o)
			}
		}
		p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: in}
		return p
	case codecs.Anthropic:
		p := anthropic.MessageNewParams{Model: "m-1", MaxTokens: 1000}
		for i := range 10 {
			p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
				Name: toolName(i), Description: anthropic.String("Tides of a harbour"),
				InputSchema: anthropic.ToolInputSchemaParam{Properties: schema["properties"], Required: []string{"harbour"}},
			}})
		}
		for t := range c.turns {
			model := []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(reason)}
			var results []anthropic.ContentBlockParamUnion
			for i := range perTurn {
				model = append(model, anthropic.NewToolUseBlock(callID(d, t, i), json.RawMessage(arguments(i, 200)), toolName(i)))
				r := anthropic.NewToolResultBlock(callID(d, t, i), answer, false)
				if last(t, i) {
					r.OfToolResult.Content = append(r.OfToolResult.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: anthropic.NewImageBlockBase64("image/png", image).OfImage})
				}
				results = append(results, r)
			}
			p.Messages = append(p.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(question)), anthropic.NewAssistantMessage(model...), anthropic.NewUserMessage(results...))
		}
		return p
	case codecs.Gemini:
		type tool struct {
			FunctionDeclarations []*genai.FunctionDeclaration `json:"functionDeclarations"`
		}
		type request struct { // the client builds maps of this form, and encodes them
			Contents []*genai.Content `json:"contents"`
			Tools    []tool           `json:"tools"`
			Config   map[string]any   `json:"generationConfig"`
		}
		var decl []*genai.FunctionDeclaration
		for i := range 10 {
			decl = append(decl, &genai.FunctionDeclaration{Name: toolName(i), Description: "Tides of a harbour", ParametersJsonSchema: schema})
		}
		p := request{Tools: []tool{{decl}}, Config: map[string]any{"maxOutputTokens": 1000}}
		for t := range c.turns {
			model := []*genai.Part{genai.NewPartFromText(reason)}
			var results []*genai.Part
			for i := range perTurn {
				var args map[string]any
				_ = json.Unmarshal([]byte(arguments(i, 200)), &args)
				model = append(model, genai.NewPartFromFunctionCall(toolName(i), args))
				r := genai.NewPartFromFunctionResponse(toolName(i), map[string]any{"result": answer})
				if last(t, i) {
					r.FunctionResponse.Parts = []*genai.FunctionResponsePart{{InlineData: &genai.FunctionResponseBlob{Data: imageData(c.image), MIMEType: "image/png"}}}
				}
				results = append(results, r)
			}
			p.Contents = append(p.Contents, genai.NewContentFromText(question, genai.RoleUser), genai.NewContentFromParts(model, genai.RoleModel), genai.NewContentFromParts(results, genai.RoleUser))
		}
		return p
	}
	panic(d)
}

// encodes are the requests of every length, in every dialect that has an SDK. Both
// sides start from their own types of the same conversation: ours from parts, the
// SDK from its parameters.
func encodes() []comparison {
	var out []comparison
	for _, d := range compared {
		c := codecOf(d)
		for _, conv := range conversations {
			req, profile := neutral(d, conv), codecs.Profile{ResultImages: codecs.MediaFollowUp}
			if d != codecs.OpenAI {
				profile.ResultImages = codecs.MediaNative
			}
			b, _, err := c.Request(req, profile)
			if err != nil {
				panic(err)
			}
			p := official(d, conv)
			marshal := func() error { _, err := json.Marshal(p); return err }
			k := comparison{name: "request/" + string(d) + "/" + conv.name, bytes: len(b), goal: goal{ratio: 1.5}, variants: []variant{
				{"conform", func() error { _, _, err := c.Request(req, profile); return err }},
				{"SDK", marshal},
			}}
			if d == codecs.Gemini { // its client writes JSON, reads it into a map, converts that (left out), writes it
				k.variants[1].run = func() error {
					m := map[string]any{}
					if err := genai.InternalDeepMarshal(p, &m); err != nil {
						return err
					}
					_, err := json.Marshal(m)
					return err
				}
				k.variants = append(k.variants, variant{"SDK, bare Marshal", marshal})
			}
			out = append(out, k)
		}
	}
	return out
}
