package loop

import (
	"context"
	"fmt"
	"sync"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// answer runs the calls of a turn and appends the turn and its results to the
// conversation. A paused turn runs nothing: it goes back as it is, and a call
// that stands in it all the same is answered with the reason, since no request
// may leave a call open.
func (r *run) answer(ctx context.Context, turn codecs.Reply) error {
	calls := turn.Calls()
	answers := make([]codecs.ToolResult, len(calls))
	if turn.Finish == codecs.FinishPause {
		for i := range calls {
			answers[i] = errorResult("not run: the turn was paused before the call was complete")
		}
	} else if err := r.execute(ctx, calls, answers); err != nil {
		return err
	}
	var results []codecs.ToolResult
	for i, call := range calls {
		paired := call.Result(answers[i].Content...)
		paired.Structured, paired.IsError = answers[i].Structured, answers[i].IsError
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

// execute runs the calls of a turn, Concurrent at a time, and puts what came of
// each into answers.
func (r *run) execute(ctx context.Context, calls []codecs.ToolCall, answers []codecs.ToolResult) error {
	for len(calls) > 0 {
		n := min(max(r.Concurrent, 1), len(calls))
		var ready sync.WaitGroup
		jobs := make([]*Executed, n)
		for i, call := range calls[:n] {
			if ctx.Err() != nil {
				return r.cancelled(ctx)
			}
			var server ToolServer
			if jobs[i], server = r.settle(call, &answers[i]); jobs[i] != nil {
				ready.Go(func() { r.runOne(ctx, server, jobs[i]) })
			}
		}
		ready.Wait()
		for i, job := range jobs {
			if job == nil {
				continue
			}
			answers[i] = job.Result
			r.out.Ran = append(r.out.Ran, *job)
			if r.AfterCall != nil {
				r.AfterCall(*job)
			}
		}
		if ctx.Err() != nil {
			return r.cancelled(ctx)
		}
		calls, answers = calls[n:], answers[n:]
	}
	return nil
}

// settle tells what is to be run for a call, and where; nothing where the answer is
// there without it. The order of the checks is that of spec 2.2: hook, unknown name,
// undecodable arguments, run.
func (r *run) settle(call codecs.ToolCall, answer *codecs.ToolResult) (*Executed, ToolServer) {
	if own := r.out.ToolNames[call.Name]; own != "" {
		call.Name = own
	}
	if r.BeforeCall != nil {
		name := call.Name
		var skip bool
		if call, skip = r.BeforeCall(call); skip {
			*answer = codecs.ToolResult{Content: []codecs.Raw{codecs.TextBlock(fmt.Sprintf("Tool call '%s' was skipped by plugin.", name))}}
			return nil, nil
		}
	}
	server, known := r.owner[call.Name]
	if !known {
		*answer = errorResult("unknown tool " + call.Name)
		return nil, nil
	}
	if reason := undecodable(call); reason != "" {
		*answer = errorResult("arguments are not valid JSON: " + reason)
		return nil, nil
	}
	return &Executed{Server: server.Name(), Name: call.Name, Arguments: call.Arguments}, server
}

// runOne runs one call. It touches nothing of the run.
func (r *run) runOne(ctx context.Context, server ToolServer, job *Executed) {
	result, err := within(ctx, r.CallTimeout, func(ctx context.Context) (codecs.ToolResult, error) {
		return server.CallTool(ctx, job.Name, job.Arguments)
	})
	if err == nil {
		err = checkResult(result)
	}
	if err != nil {
		result = errorResult(fmt.Sprintf("Error calling tool '%s': %v", job.Name, err))
	}
	job.Result, job.Err = result, err
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
