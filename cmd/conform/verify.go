package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/verify"
)

func verifyCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify PATH...",
		Short: "Hold the codecs against recorded traffic",
		Long: `verify reads recordings (JSON with exchanges), go-vcr tapes and httprr recordings,
decodes every reply that is no stream, and compares what came out with an
independent scan of the body: calls, bytes of text, reasoning items. Error bodies
must come out typed, with the provider's own message.

Exit code 1 when a body was not read as it should be.`,
		Args: someArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := verify.Paths(cmd.Context(), args)
			if cmd.Context().Err() != nil {
				return &failure{exitBroken, "stopped"}
			}
			if err != nil {
				return usage("%v", err)
			}
			if asJSON {
				raw, err := jsonx.Marshal(r)
				if err != nil {
					return &failure{exitBroken, err.Error()}
				}
				if err := printJSON(e.stdout, raw); err != nil {
					return err
				}
			} else {
				printVerify(e, r)
			}
			if r.Replies+r.Errors == 0 && len(r.Failed) == 0 {
				return &failure{exitFailed, "nothing was verified: no reply and no error of a chat endpoint in there"}
			}
			if !r.OK() {
				return &failure{code: exitFailed}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func someArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("name recordings or folders of recordings to verify")
	}
	return nil
}

func printVerify(e env, r verify.Report) {
	w := e.stdout
	fmt.Fprintf(w, "%d files, %d exchanges\n", r.Files, r.Exchanges)
	fmt.Fprintf(w, "replies    %d, decoded %d (of them %d errors inside a 2xx)\n", r.Replies, r.Decoded, r.ErrorsIn200)
	fmt.Fprintf(w, "calls      %d in the bodies, %d decoded\n", r.RawCalls, r.DecodedCalls)
	fmt.Fprintf(w, "text       %d bytes in the bodies, %d decoded (white space not counted)\n", r.RawText, r.DecodedText)
	fmt.Fprintf(w, "reasoning  %d items in the bodies, %d decoded\n", r.RawReasoning, r.Reasoning)
	fmt.Fprintf(w, "errors     %d, typed %d\n", r.Errors, r.ErrorsTyped)
	fmt.Fprintf(w, "skipped    %d streams, %d other endpoints, %d files that are no recordings\n", r.Streams, r.Other, len(r.Skipped))
	for _, p := range r.EmptyReplies {
		fmt.Fprintf(w, "no parts, to look at: %s #%d (finish %q)\n", clean(p.File), p.Exchange, clean(p.Finish))
	}
	for _, p := range r.Failed {
		fmt.Fprintf(w, "FAILED: %s #%d: %s\n", clean(p.File), p.Exchange, clean(p.Error))
	}
}
