package loop

import (
	"context"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// answer runs the calls of a turn and appends the turn and its results to the
// conversation. A paused turn runs nothing: it goes back as it is, and a call
// that stands in it all the same is answered with the reason, since no request
// may leave a call open.
func (r *run) answer(ctx context.Context, turn codecs.Reply) error {
	var results []codecs.ToolResult
	for _, call := range turn.Calls() {
		var result codecs.ToolResult
		if turn.Finish == codecs.FinishPause {
			result = errorResult("not run: the turn was paused before the call was complete")
		} else {
			if ctx.Err() != nil {
				return r.cancelled(ctx)
			}
			result = r.execute(ctx, call)
			if ctx.Err() != nil {
				return r.cancelled(ctx)
			}
		}
		paired := call.Result(result.Content...)
		paired.Structured, paired.IsError = result.Structured, result.IsError
		results = append(results, paired)
	}
	messages, warnings, err := r.Codec.Continue(turn, results, r.Profile)
	r.warn(warnings)
	if err != nil {
		return fmt.Errorf("continuing after reply %d: %w", r.out.Iterations, err)
	}
	r.out.Native = append(r.out.Native, messages...)
	return nil
}

// execute gives the result of one call. The order of the checks is that of
// spec 2.2: hook, unknown name, undecodable arguments, run.
func (r *run) execute(ctx context.Context, call codecs.ToolCall) codecs.ToolResult {
	if own := r.out.ToolNames[call.Name]; own != "" {
		call.Name = own
	}
	if r.BeforeCall != nil {
		name := call.Name
		var skip bool
		if call, skip = r.BeforeCall(call); skip {
			return codecs.ToolResult{Content: []codecs.Raw{codecs.TextBlock(fmt.Sprintf("Tool call '%s' was skipped by plugin.", name))}}
		}
	}
	server, known := r.owner[call.Name]
	if !known {
		return errorResult("unknown tool " + call.Name)
	}
	if reason := undecodable(call); reason != "" {
		return errorResult("arguments are not valid JSON: " + reason)
	}
	result, err := within(ctx, r.CallTimeout, func(ctx context.Context) (codecs.ToolResult, error) {
		return server.CallTool(ctx, call.Name, call.Arguments)
	})
	if err == nil {
		err = checkResult(result)
	}
	if err != nil {
		result = errorResult(fmt.Sprintf("Error calling tool '%s': %v", call.Name, err))
	}
	r.out.Ran = append(r.out.Ran, Executed{Server: server.Name(), Name: call.Name, Arguments: call.Arguments, Result: result, Err: err})
	return result
}

// undecodable tells why the arguments of a call cannot be run, "" when they can.
// A hook may have set them, so they are read again.
func undecodable(call codecs.ToolCall) string {
	if call.Arguments == nil {
		if call.ArgumentsErr == "" {
			return "there are none"
		}
		return call.ArgumentsErr
	}
	v, err := jsonx.Parse(call.Arguments)
	if err != nil {
		return err.Error()
	}
	if !v.IsObject() {
		return "not a JSON object"
	}
	return ""
}

// checkResult finds what a codec could not encode: a tool server of the
// caller's own may return anything.
func checkResult(result codecs.ToolResult) error {
	for i, block := range result.Content {
		if err := jsonx.Check(block); err != nil {
			return fmt.Errorf("content block %d of the result is not JSON: %w", i, err)
		}
	}
	if len(result.Structured) > 0 {
		if err := jsonx.Check(result.Structured); err != nil {
			return fmt.Errorf("the structured content of the result is not JSON: %w", err)
		}
	}
	return nil
}

func errorResult(text string) codecs.ToolResult {
	return codecs.ToolResult{Content: []codecs.Raw{codecs.TextBlock(text)}, IsError: true}
}
