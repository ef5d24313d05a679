package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/sources"
	"github.com/toolconform/conform/internal/texts"
)

// screen is how wide a text for people is at most.
const screen = 80

// factColumns are the columns of the table of facts: what stands above one, the
// fact, and its short words where the value itself is no word for a table.
var factColumns = []struct {
	head, fact string
	short      map[string]string
	legend     string
}{
	{"images", "result_images", map[string]string{"placeholder": "text", "follow_up": "after"}, "images, pdf: of a tool result: native, text (a line stands for it), after (in a message behind the results)"},
	{"pdf", "result_pdf", map[string]string{"placeholder": "text", "follow_up": "after"}, ""},
	{"echo", "reasoning_echo", map[string]string{"required": "must", "required_even_empty": "must*", "accepted": "may", "refused": "not", "ignored": "lost"}, "echo: reasoning in the next request: must (must*: also when empty), may, lost (taken, not read), not (refused)"},
	{"reasoning in", "reasoning_field", nil, "reasoning in: the key, block or item that carries it; + there are more"},
	{"cut", "cut_call", map[string]string{
		engines.CutPartialText: "part", engines.CutEmptyText: `""`, engines.CutEmptyObject: "{}", engines.CutSwallowed: "lost",
		engines.CutError: "error", engines.CutRepaired: "mended", engines.CutNotDelivered: "held",
	}, `cut: a call at the token limit: part of its text, "", {}, lost, error, mended (looks whole), held (does not come)`},
	{"choice", "tool_choice", nil, "choice: tool choice modes: a auto, r any, n none, t one tool; - no such field"},
	{"ids", "ids", map[string]string{"repeated": "same", "optional": "some", "mistral9": "nine"}, "ids: of calls: given, some, none, same (repeat), nine (letters and digits)"},
	{"srv", "server_tools", nil, "srv: tools that the provider runs"},
}

func factsCommand(e env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "facts [ENGINE...]",
		Short: "Show what is known about each engine: one line an engine, unknown as ?",
		Long: `facts is the table of engines: how images and PDFs of a tool result travel, whether
reasoning has to be echoed and where it stands, how a call looks that the token limit
cut, which tool choices, ids and server tools there are. What nobody has seen or
written down is "?", what was recorded from the engine itself has "!", the rest is
documented. --json has the source of every fact; 'explain ENGINE' shows one engine.`,
		Example: `  conform facts
  conform facts deepseek mistral gemini
  conform facts --json`,
		ValidArgsFunction: completeEngines,
		RunE: func(_ *cobra.Command, args []string) error {
			catalog, err := engines.Load()
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			list := catalog.All()
			if len(args) > 0 {
				list = nil
			}
			for _, name := range args {
				en, err := catalog.Lookup(name)
				if err != nil {
					return usage("%v", err)
				}
				list = append(list, en)
			}
			if asJSON {
				return printValue(e.stdout, factsJSON(list))
			}
			printFacts(e.stdout, list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: every fact with its origin")
	return cmd
}

// factsJSON lists the facts with where they come from.
func factsJSON(list []engines.Engine) []any {
	out := []any{}
	for _, en := range list {
		for _, f := range en.Facts.List() {
			out = append(out, map[string]any{"engine": en.Name, "dialect": en.Dialect, "fact": f.Name, "value": f.Fact.Value, "origin": f.Fact.Origin})
		}
	}
	return out
}

// factCell is the short form of a fact.
func factCell(f engines.Fact, fact string, short map[string]string) string {
	if !f.Known() {
		return "?"
	}
	text := f.Value
	switch word, ok := short[text]; {
	case ok:
		text = word
	case fact == "tool_choice":
		text = ""
		for _, mode := range strings.Fields(f.Value) {
			text += map[string]string{codecs.ChoiceAuto: "a", codecs.ChoiceAny: "r", codecs.ChoiceNone: "n", codecs.ChoiceTool: "t", "-": "-"}[mode]
		}
	default:
		if first, _, more := strings.Cut(text, " "); more {
			text = first + "+"
		}
	}
	if f.Origin.Kind == sources.Recorded {
		text += "!"
	}
	return text
}

// printFacts prints the table, by dialect, and counts what is not known.
func printFacts(w io.Writer, list []engines.Engine) {
	facts, recorded, unknown := 0, 0, map[string]int{}
	byDialect := map[codecs.Dialect][][]string{}
	for _, en := range list {
		row := []string{en.Name}
		for _, c := range factColumns {
			row = append(row, factCell(en.Facts.Of(c.fact), c.fact, c.short))
		}
		byDialect[en.Dialect] = append(byDialect[en.Dialect], row)
		for _, f := range en.Facts.List() {
			facts++
			switch {
			case !f.Fact.Known():
				unknown[f.Name]++
			case f.Fact.Origin.Kind == sources.Recorded:
				recorded++
			}
		}
	}
	for _, d := range codecs.Dialects() {
		if rows := byDialect[d]; len(rows) > 0 {
			head := []string{string(d) + ":"}
			for _, c := range factColumns {
				head = append(head, c.head)
			}
			const reasoning = 4 // the one column of words that may be long
			printTable(w, append([][]string{head}, rows...), reasoning)
			fmt.Fprintln(w)
		}
	}
	for _, c := range factColumns {
		if c.legend != "" {
			fmt.Fprint(w, texts.Wrap("", "  ", c.legend, screen))
		}
	}
	n := 0
	var by []string
	for _, f := range (engines.Facts{}).List() {
		if k := unknown[f.Name]; k > 0 {
			n += k
			by = append(by, fmt.Sprintf("%s %d", f.Name, k))
		}
	}
	text := fmt.Sprintf("%d facts of %d engines: %d unknown (?)", facts, len(list), n)
	if n > 0 {
		text += ", of them " + strings.Join(by, ", ")
	}
	fmt.Fprint(w, "\n", texts.Wrap("", "  ", fmt.Sprintf("%s; %d recorded (!), %d documented.", text, recorded, facts-n-recorded), screen))
}

// printTable prints rows in columns as wide as their widest cell. What does not
// fit the screen is cut from the column give, down to its head, and then from the
// widest of the others but the first.
func printTable(w io.Writer, rows [][]string, give int) {
	widths, total := make([]int, len(rows[0])), 2*(len(rows[0])-1)
	gap := "  "
	for i := range widths {
		for _, r := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
		total += widths[i]
	}
	if total > screen {
		gap, total = " ", total-len(widths)+1
	}
	least := max(len(rows[0][give]), 16)
	for ; total > screen; total-- {
		cut := give
		if widths[give] <= least {
			for i := 1; i < len(widths); i++ {
				if widths[i] > widths[cut] {
					cut = i
				}
			}
		}
		widths[cut]--
	}
	for _, r := range rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(texts.Pad(texts.Cut(c, widths[i]), widths[i]) + gap)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
