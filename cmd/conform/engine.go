package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
)

// explainEngine shows everything of an entry: where the engine is, what goes out
// with each request, its effective profile and likeness for the model, the rules
// that led there, and what is known, each with its origin.
func explainEngine(w io.Writer, en engines.Engine, model string) error {
	r := en.Resolve(model)
	say(w, en.Name+"  ", en.Title)
	fmt.Fprintln(w)
	row := func(name, text string) {
		if text != "" {
			say(w, fmt.Sprintf("%-9s ", name), text)
		}
	}
	row("Family", en.Family)
	row("Dialect", string(r.Dialect))
	row("Model", r.Model)
	row("URL", strings.ReplaceAll(en.URL, "{base}", en.Vars["base"]))
	row("Streams", strings.ReplaceAll(en.StreamURL, "{base}", en.Vars["base"]))
	row("No stream", en.NoStream)
	row("Auth", strings.TrimSpace(en.Auth+" "+strings.Join(en.Command, " ")))
	row("Key", keyText(en))
	for _, list := range []struct {
		name string
		of   map[string]string
	}{{"Header", en.Headers}, {"Query", en.Query}, {"Variable", en.Vars}} {
		for _, key := range slices.Sorted(maps.Keys(list.of)) {
			value := list.of[key]
			if value == "" {
				value = "(has to be given)"
			}
			row(list.name, key+" = "+value)
		}
	}
	for _, edit := range r.Engine.BodySet {
		row("Body", edited(edit))
	}
	for _, pointer := range r.Engine.BodyRemove {
		row("Body", pointer+" is taken out")
	}
	members, err := spoken(r.Profile)
	if err != nil {
		return &failure{exitBroken, err.Error()}
	}
	if len(members) == 0 {
		fmt.Fprint(w, "\nThe profile for this model is empty: it is read and written as its dialect is.\n")
	} else {
		fmt.Fprint(w, "\nProfile, where it differs from its dialect, for this model ('conform explain\nFIELD' tells what one means):\n")
	}
	for _, m := range members {
		say(w, fmt.Sprintf("  %-18s ", m.Key), string(m.Value.Raw()))
	}
	if members, err = spoken(r.Likeness); err != nil {
		return &failure{exitBroken, err.Error()}
	}
	if len(members) > 0 {
		say(w, "\nLikeness, what its replies look like ", sourced(r.LikenessOrigin))
	}
	for _, m := range members {
		say(w, fmt.Sprintf("  %-18s ", m.Key), breakable(m.Value.Raw()))
	}
	if len(en.Models) > 0 {
		fmt.Fprintln(w, "\nRules by model, later ones win:")
	}
	for _, rule := range en.Models {
		if err := explainModelRule(w, rule); err != nil {
			return &failure{exitBroken, err.Error()}
		}
	}
	fmt.Fprintln(w, "\nFacts, for this model:")
	for _, f := range r.Facts.List() {
		say(w, fmt.Sprintf("  %-16s ", f.Name), f.Fact.Value+" "+sourced(f.Fact.Origin))
	}
	for _, n := range en.Notes {
		say(w, "\nNote: ", n.Text+" "+sourced(n.Origin))
	}
	return nil
}

func explainModelRule(w io.Writer, rule engines.ModelRule) error {
	text := ""
	if rule.Dialect != "" {
		text += " dialect " + string(rule.Dialect)
	}
	for _, m := range jsonx.Of(jsonx.Raw(rule.Profile)).Members() {
		text += " " + m.Key + "=" + breakable(m.Value.Raw())
	}
	for _, edit := range rule.BodySet {
		text += " body " + edited(edit) + ";"
	}
	for _, pointer := range rule.BodyRemove {
		text += " body " + pointer + " is taken out;"
	}
	if rule.Likeness != nil {
		members, err := spoken(rule.Likeness.Likeness)
		if err != nil {
			return err
		}
		text += " likeness"
		if rule.Likeness.Like != "" {
			text += " like " + rule.Likeness.Like
		}
		for _, m := range members {
			text += " " + m.Key + "=" + breakable(m.Value.Raw())
		}
		text += " " + sourced(rule.Likeness.Origin)
	}
	say(w, "  ", strings.ReplaceAll(rule.Match, "|", " | ")+": "+text)
	if n := rule.Note; n != nil {
		say(w, "    ", n.Text+" "+sourced(n.Origin))
	}
	return nil
}

// spoken are the members of a value that say something.
func spoken(v any) ([]jsonx.Member, error) {
	raw, err := jsonx.Marshal(v)
	return slices.DeleteFunc(jsonx.Of(raw).Members(), func(m jsonx.Member) bool {
		return slices.Contains([]string{"false", "0", `""`, "null"}, string(m.Value.Raw())) // the dialect's own way
	}), err
}

// breakable lets a long JSON text be broken into lines where it has commas.
func breakable(raw []byte) string {
	if compact, err := jsonx.Compact(raw); err == nil {
		raw = compact
	}
	return strings.ReplaceAll(string(raw), `,"`, `, "`)
}

func edited(e engines.BodyEdit) string {
	text := e.Pointer + " = " + breakable(e.Value)
	if e.From != "" {
		text = e.Pointer + " = what stands at " + e.From
	}
	if e.Text {
		text += ", as a string"
	}
	if e.IfAbsent {
		text += ", unless it is there"
	}
	return text
}

// sourced says in brackets what a statement rests on, with the figures that
// confirm it; nothing where nobody looked.
func sourced(o engines.Origin) string {
	text := o.Kind
	if text == "" {
		return ""
	}
	if from := o.From(); from != "" {
		text += ", " + from
	}
	if o.Note != "" {
		text += "; " + o.Note
	}
	if c := o.ConfirmedBy; c != nil && c.Count > 0 {
		text += fmt.Sprintf("; seen in %d recorded, such as %s %s", c.Count, c.Repository, c.Path)
	}
	return "(" + text + ")"
}

func keyText(en engines.Engine) string {
	text := strings.Join(en.Keys, " or ")
	switch {
	case text == "":
		return "none"
	case en.KeyOptional:
		return text + " (optional)"
	}
	return text
}
