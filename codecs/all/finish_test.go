package all_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/internal/jsonx"
)

// finishRow is one row of a table of docs/finish.md.
type finishRow struct {
	raw           string // "" for (none)
	without, with string // a finish, or typed error
	warning       string
}

const typedError = "typed error"

// finishTables reads the tables of docs/finish.md whose first column is raw, by
// the heading above them, and the list of normalised values.
func finishTables(t *testing.T) (tables map[string][]finishRow, values []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/finish.md")
	if err != nil {
		t.Fatal(err)
	}
	tables = map[string][]finishRow{}
	heading, head := "", ""
	for _, line := range strings.Split(string(page), "\n") {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = h
		}
		if !strings.HasPrefix(line, "|") {
			head = ""
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch {
		case head == "":
			head = cells[0]
		case strings.HasPrefix(cells[0], "---"):
		case head == "finish" && heading == "":
			values = append(values, cells[0])
		case head == "raw" && len(cells) == 4:
			r := finishRow{raw: cells[0], without: strings.Trim(cells[1], `"`), with: strings.Trim(cells[2], `"`), warning: cells[3]}
			if r.raw == "(none)" {
				r.raw = ""
			}
			tables[heading] = append(tables[heading], r)
		}
	}
	return tables, values
}

// finishBody is the smallest body of a dialect that ends for a reason.
func finishBody(d codecs.Dialect, raw string, call bool) string {
	reason := string(jsonx.Quote(raw))
	either := func(without, with string) string {
		if call {
			return with
		}
		return without
	}
	key := func(name string) string {
		if raw == "" {
			return ""
		}
		return fmt.Sprintf(`,"%s":%s`, name, reason)
	}
	switch d {
	case codecs.OpenAI:
		return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":"ebb"%s}%s}]}`,
			either("", `,"tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{}"}}]`), key("finish_reason"))
	case codecs.Anthropic:
		return fmt.Sprintf(`{"content":[{"type":"text","text":"ebb"}%s]%s}`,
			either("", `,{"type":"tool_use","id":"c1","name":"tide","input":{}}`), key("stop_reason"))
	case codecs.Gemini:
		if _, err := strconv.Atoi(raw); err == nil {
			reason = raw
		}
		return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":"ebb"}%s]}%s}]}`,
			either("", `,{"functionCall":{"name":"tide","args":{}}}`), key("finishReason"))
	case codecs.Ollama:
		return fmt.Sprintf(`{"message":{"role":"assistant","content":"ebb"%s}%s}`,
			either("", `,"tool_calls":[{"function":{"name":"tide","arguments":{}}}]`), key("done_reason"))
	case codecs.Responses:
		end := key("status")
		if raw != "" && !slices.Contains([]string{"completed", "requires_action", "cancelled", "failed", "in_progress", "queued", "incomplete"}, raw) {
			end = fmt.Sprintf(`,"status":"incomplete","incomplete_details":{"reason":%s}`, reason)
		}
		return fmt.Sprintf(`{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ebb"}]}%s]%s}`,
			either("", `,{"type":"function_call","call_id":"c1","name":"tide","arguments":"{}"}`), end)
	}
	text := string(jsonx.Quote(either("ebb", "ebb <tool_call>{\"name\":\"tide\",\"arguments\":{}}</tool_call>")))
	return fmt.Sprintf(`{"text":%s%s}`, text, key("finish_reason"))
}

// finishOf decodes a body and returns the finish and the codes of the warnings.
func finishOf(c codecs.Codec, body string, p codecs.Profile, call bool, raw string) (finish string, warnings []string, err error) {
	r, err := c.Reply([]byte(body), p)
	if pe := (*codecs.ProviderError)(nil); errors.As(err, &pe) {
		return typedError, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if r.RawFinish != raw {
		return "", nil, fmt.Errorf("raw finish %q, want %q", r.RawFinish, raw)
	}
	// A call that the provider could not read is no call.
	if call != (len(r.Calls()) > 0) && raw != "MALFORMED_FUNCTION_CALL" {
		return "", nil, fmt.Errorf("%d calls", len(r.Calls()))
	}
	for _, w := range r.Warnings {
		warnings = append(warnings, w.Code)
	}
	return r.Finish, warnings, nil
}

// TestFinishPage decodes a body for every row of docs/finish.md.
func TestFinishPage(t *testing.T) {
	tables, _ := finishTables(t)
	for _, c := range all.Codecs() {
		d := c.Dialect()
		if d == codecs.Hermes { // see TestFinishPageHermes
			continue
		}
		rows := tables[string(d)]
		if len(rows) == 0 {
			t.Errorf("docs/finish.md has no table for %s", d)
		}
		for _, r := range rows {
			checkFinish(t, c, codecs.Profile{}, r, finishBody(d, r.raw, false), finishBody(d, r.raw, true))
		}
	}
}

func checkFinish(t *testing.T, c codecs.Codec, p codecs.Profile, r finishRow, without, with string) {
	t.Helper()
	got, warnings, err := finishOf(c, without, p, false, r.raw)
	if want := strings.Fields(r.warning); err != nil || got != r.without || !slices.Equal(warnings, want) {
		t.Errorf("%s %q without a call: finish %q, warnings %v (%v), the page says %q, %v", c.Dialect(), r.raw, got, warnings, err, r.without, want)
	}
	if got, _, err = finishOf(c, with, p, true, r.raw); err != nil || got != r.with {
		t.Errorf("%s %q with a call: finish %q (%v), the page says %q", c.Dialect(), r.raw, got, err, r.with)
	}
}

// TestFinishPageHermes: hermes has the reasons of openai, over chat completions
// and in an envelope of a host's own, but that calls from the text also name the
// end of a reply whose reason is missing.
func TestFinishPageHermes(t *testing.T) {
	tables, _ := finishTables(t)
	c, err := all.For(codecs.Hermes)
	if err != nil {
		t.Fatal(err)
	}
	const block = `ebb <tool_call>{\"name\":\"tide\",\"arguments\":{}}</tool_call>`
	for _, r := range tables["openai"] {
		if r.raw == "" {
			r.with = codecs.FinishToolCalls
		}
		checkFinish(t, c, codecs.Profile{ContentPointer: "/text"}, r, finishBody(codecs.Hermes, r.raw, false), finishBody(codecs.Hermes, r.raw, true))
		without := finishBody(codecs.OpenAI, r.raw, false)
		checkFinish(t, c, codecs.Profile{}, r, without, strings.Replace(without, `"ebb"`, `"`+block+`"`, 1))
	}
}

// TestFinishPageIsComplete holds the page against the tables in the code and
// against the constants.
func TestFinishPageIsComplete(t *testing.T) {
	tables, values := finishTables(t)
	var listed []string
	for d, rows := range tables {
		for _, r := range rows {
			listed = append(listed, d+" "+r.raw)
		}
	}
	for _, c := range all.Codecs() {
		d := c.Dialect()
		if d == codecs.Hermes { // it has the table of openai
			continue
		}
		finishes := c.Wire().Finishes
		if len(finishes) == 0 {
			t.Errorf("%s has no table of finishes; the page cannot be held against it", d)
		}
		for raw := range finishes {
			if !slices.Contains(listed, string(d)+" "+raw) {
				t.Errorf("docs/finish.md, %s: no row for %q", d, raw)
			}
		}
	}
	want := []string{
		codecs.FinishStop, codecs.FinishToolCalls, codecs.FinishLength, codecs.FinishContentFilter, codecs.FinishRefusal,
		codecs.FinishPause, codecs.FinishBlocked, codecs.FinishMalformedCall, codecs.FinishError,
	}
	if !slices.Equal(values, want) {
		t.Errorf("docs/finish.md lists the values %v, the constants are %v", values, want)
	}
}

// TestFinishPageRules decodes a body for each rule that the page has below its
// tables.
func TestFinishPageRules(t *testing.T) {
	const chatCall = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{}"}}]`
	message := func(status string) string {
		return `{"type":"message","role":"assistant","status":"` + status + `","content":[{"type":"output_text","text":"ebb"}]}`
	}
	const itemCall = `{"type":"function_call","call_id":"c1","name":"tide","arguments":"{\"ha"}`
	for name, c := range map[string]struct {
		dialect codecs.Dialect
		body    string
		finish  string
		raw     string
		message string
		warning string
	}{
		"details": {
			codecs.OpenAI, `{"choices":[{"message":{"content":"ebb"},"finish_details":{"type":"max_tokens"}}]}`, "length", "max_tokens", "", "",
		},
		"native limit": {
			codecs.OpenAI, `{"choices":[{"message":{` + chatCall + `},"finish_reason":"tool_calls","native_finish_reason":"MAX_TOKENS"}]}`,
			"length", "tool_calls", "", "truncation.hidden",
		},
		"native malformed call": {
			codecs.OpenAI, `{"choices":[{"message":{"content":""},"finish_reason":"stop","native_finish_reason":"MALFORMED_FUNCTION_CALL"}]}`,
			"malformed_call", "stop", "", "",
		},
		"refusal": {codecs.OpenAI, `{"choices":[{"message":{"refusal":"No."},"finish_reason":"stop"}]}`, "refusal", "stop", "No.", ""},
		"error beside content": {
			codecs.OpenAI, `{"error":{"message":"late"},"choices":[{"message":{"content":"ebb"},"finish_reason":"stop"}]}`, "stop", "stop", "late", "finish.odd",
		},
		"error without content": {codecs.OpenAI, `{"error":{"message":"late"},"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, typedError, "", "", ""},
		"details of a refusal": {
			codecs.Anthropic, `{"content":[],"stop_reason":"refusal","stop_details":{"category":"bio","explanation":"No."}}`, "refusal", "refusal", "No.", "",
		},
		"category of a refusal": {codecs.Anthropic, `{"content":[],"stop_reason":"refusal","stop_details":{"category":"bio"}}`, "refusal", "refusal", "bio", ""},
		"blocked prompt": {
			codecs.Gemini, `{"promptFeedback":{"blockReason":"NEW_WORD","blockReasonMessage":"No."}}`, "blocked", "NEW_WORD", "No.", "",
		},
		"limit behind a complete message": {
			codecs.Responses, `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + message("completed") + `,` + itemCall + `]}`,
			"tool_calls", "max_output_tokens", "", "truncation.hidden",
		},
		"incomplete message": {codecs.Responses, `{"status":"completed","output":[` + message("incomplete") + `]}`, "length", "incomplete", "", ""},
		"complete message":   {codecs.Responses, `{"output":[` + message("completed") + `]}`, "stop", "completed", "", ""},
		"refusal block": {
			codecs.Responses, `{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}`, "refusal", "completed", "No.", "",
		},
		"no output": {codecs.Responses, `{"status":"completed","output":[]}`, "", "completed", "", "finish.odd"},
	} {
		codec, err := all.For(c.dialect)
		if err != nil {
			t.Fatal(err)
		}
		r, err := codec.Reply([]byte(c.body), codecs.Profile{})
		if pe := (*codecs.ProviderError)(nil); errors.As(err, &pe) {
			r.Finish, err = typedError, nil
		}
		var warnings []string
		for _, w := range r.Warnings {
			warnings = append(warnings, w.Code)
		}
		if err != nil || r.Finish != c.finish || r.RawFinish != c.raw || r.FinishMessage != c.message || !slices.Equal(warnings, strings.Fields(c.warning)) {
			t.Errorf("%s: finish %q, raw %q, message %q, warnings %v (%v), want %q, %q, %q, %q",
				name, r.Finish, r.RawFinish, r.FinishMessage, warnings, err, c.finish, c.raw, c.message, c.warning)
		}
		for _, call := range r.Calls() {
			if c.dialect == codecs.Responses && !call.Cut {
				t.Errorf("%s: the call is not marked as cut", name)
			}
		}
	}
}
