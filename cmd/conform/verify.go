package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/results"
	"github.com/toolconform/conform/suite/verify"
)

func verifyCommand(e env) *cobra.Command {
	var asJSON, judged bool
	var samples string
	cmd := &cobra.Command{
		Use: "verify PATH...",
		Example: `  conform verify cassettes/tapes
  conform verify --json recordings
  conform verify --samples reasoning_lost recordings`,
		Short: "Hold the codecs against recorded traffic",
		Long: `verify reads recordings (JSON with exchanges), go-vcr tapes and httprr recordings,
decodes every reply and stream, and compares what came out with an
independent scan of the body: calls, bytes of text, reasoning items. Error bodies
must come out typed, with the provider's own message. Where a recorded request
answers the calls of a recorded reply, the codec continues that reply with the
recorded results, and both requests are held against the reply: what only the
recorded one loses or changes is counted by class, and --samples CLASS shows
such places; what ours loses is wrong.

With --judge the checks of a run judge every recorded request and reply instead,
by nothing but what stands in the recording, and it prints what they find by
provider. A request that its provider took shows that a rule is none there, or
that the check is wrong.

Exit code 1 when a body was not read as it should be, or when the judge finds a
rule of level must broken in a request that was accepted.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name recordings or folders of recordings to verify")
			}
			if judged {
				return verifyJudged(cmd.Context(), e, args, asJSON)
			}
			catalog, err := engines.Load()
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			r, err := verify.Paths(cmd.Context(), args, catalog)
			if cmd.Context().Err() != nil {
				return &failure{exitBroken, "stopped"}
			}
			if err != nil {
				return usage("%v", err)
			}
			if list := r.Samples(samples, mostSamples); samples != "" {
				return printSamples(e.stdout, list, samples, r, asJSON)
			}
			if !asJSON {
				printVerify(e.stdout, r)
			} else if err := printValue(e.stdout, r); err != nil {
				return err
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
	cmd.Flags().StringVar(&samples, "samples", "", "print up to ten differences of a `CLASS` instead")
	cmd.Flags().BoolVar(&judged, "judge", false, "judge the recorded requests and replies with the checks of a run")
	return cmd
}

func printVerify(w io.Writer, r verify.Report) {
	fmt.Fprintf(w, "%d files, %d exchanges\n", r.Files, r.Exchanges)
	fmt.Fprintf(w, "replies    %d, decoded %d (of them %d errors inside a 2xx)\n", r.Replies, r.Decoded, r.ErrorsIn200)
	fmt.Fprintf(w, "calls      %d in the bodies, %d decoded\n", r.RawCalls, r.DecodedCalls)
	fmt.Fprintf(w, "text       %d bytes in the bodies, %d decoded (white space not counted)\n", r.RawText, r.DecodedText)
	fmt.Fprintf(w, "reasoning  %d items in the bodies, %d decoded\n", r.RawReasoning, r.Reasoning)
	fmt.Fprintf(w, "errors     %d, typed %d\n", r.Errors, r.ErrorsTyped)
	fmt.Fprintf(w, "streams    %d, decoded %d; cut at %d places, %d gave another reply\n", r.Streams, r.StreamsDecoded, r.Splits, r.SplitFailures)
	fmt.Fprintf(w, "continued  %d replies: %d as the recorded request does, %d of them kept by the engine; %d replies with calls are not answered\n", r.Continuations.Continuations, r.Equal, r.ByReference, r.Unanswered)
	for _, class := range slices.Sorted(maps.Keys(r.Differences)) {
		fmt.Fprintf(w, "  the recorded request differs: %-30s %d\n", class, r.Differences[class])
	}
	fmt.Fprintf(w, "skipped    %d other endpoints, %d files that are no recordings\n", r.Other, len(r.Skipped))
	for _, p := range r.EmptyReplies {
		fmt.Fprintf(w, "no parts, to look at: %s #%d (finish %q)\n", clean(p.File), p.Exchange, clean(p.Finish))
	}
	for _, p := range slices.Concat(r.OursWrong, r.Failed) {
		fmt.Fprintf(w, "FAILED: %s: %s\n", placed(p), clean(p.Error))
	}
}

// mostSamples is how many differences of a class are shown.
const mostSamples = 10

func printSamples(w io.Writer, list []verify.Difference, class string, r verify.Report, asJSON bool) error {
	switch {
	case asJSON && list != nil:
		return printValue(w, list)
	case list == nil:
		return usage("no difference of class %q; there are: %s", class, strings.Join(slices.Sorted(maps.Keys(r.Differences)), ", "))
	}
	for _, d := range list {
		fmt.Fprintf(w, "%s\n  reply:   %s\n  request: %s\n", placed(d.Place), clean(d.Want), clean(d.Got))
	}
	return nil
}

func verifyJudged(ctx context.Context, e env, paths []string, asJSON bool) error {
	catalog, err := engines.Load()
	if err != nil {
		return &failure{exitBroken, err.Error()}
	}
	r, err := verify.Judge(ctx, paths, catalog)
	if ctx.Err() != nil {
		return &failure{exitBroken, "stopped"}
	}
	if err != nil {
		return usage("%v", err)
	}
	if !asJSON {
		printJudged(e.stdout, r)
	} else if err := printValue(e.stdout, r); err != nil {
		return err
	}
	if r.Must() > 0 || len(r.Failed) > 0 || len(r.Providers) == 0 {
		return &failure{code: exitFailed}
	}
	return nil
}

func printJudged(w io.Writer, r verify.Judged) {
	fmt.Fprintf(w, "%d files, %d exchanges, %d of them at other endpoints; %d files are no recordings\n", r.Files, r.Exchanges, r.Other, len(r.Skipped))
	for _, p := range r.Providers {
		profile := "profile of " + p.Engine
		if p.Engine == "" {
			profile = "profile of the dialect"
		}
		name := p.Dialect
		if p.Provider != "" {
			name += "/" + clean(p.Provider)
		}
		fmt.Fprintf(w, "%s (%s)\n", name, profile)
		for _, c := range []struct {
			name string
			verify.Count
		}{{"accepted", p.Accepted}, {"refused", p.Refused}} {
			if c.Requests == 0 {
				continue
			}
			fmt.Fprintf(w, "  %-8s %5d requests, must: %s", c.name, c.Requests, rulesBroken(c.Must))
			if len(c.Below) > 0 {
				fmt.Fprintf(w, "; below must: %s", rulesBroken(c.Below))
			}
			fmt.Fprintln(w)
		}
	}
	for _, f := range r.Findings {
		if f.Accepted && f.Level == results.Must {
			fmt.Fprintf(w, "%s #%d: %s: %s %s\n", clean(f.File), f.Exchange, f.ID, clean(f.Message), clean(f.Evidence))
		}
	}
	for _, p := range r.Failed {
		fmt.Fprintf(w, "FAILED: %s: %s\n", placed(p), clean(p.Error))
	}
	fmt.Fprintf(w, "%d findings of level must in accepted requests\n", r.Must())
}

func rulesBroken(of map[string]int) string {
	if len(of) == 0 {
		return "none"
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("%s %d", id, of[id]))
	}
	return strings.Join(out, ", ")
}

// placed names the exchange of a file, or the whole file.
func placed(p verify.Place) string {
	if p.Exchange < 0 {
		return clean(p.File)
	}
	return fmt.Sprintf("%s #%d", clean(p.File), p.Exchange)
}
