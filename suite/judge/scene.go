package judge

import (
	"slices"
	"sync"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/suite/results"
)

// stage is where a check looks.
type stage int

const (
	atRequest stage = iota // at each request, before its answer
	atTurn                 // at each turn of the model in the history of a request
	atReply                // at each answer
	atEnd
)

// check judges one rule. It is called for everything that its stage has, and
// says pass, fail, degraded, or nothing where there is nothing to judge.
type check struct {
	rule  string
	at    stage
	judge func(*scene)
}

// checks lists every check; the order is of no account.
func checks() []check {
	return slices.Concat(requestChecks(), promptChecks(), toolChecks(), echoChecks(), reasoningChecks(), pairingChecks(), resultChecks(), truncationChecks(), replyChecks(), endChecks())
}

// Rules lists the rules that a check judges, in the order of the report.
func Rules() []fixtures.Rule { return open().list }

// RuleByID returns the rule called id; false when no check judges it.
func RuleByID(id string) (fixtures.Rule, bool) {
	r, ok := open().rules[id]
	return r, ok
}

// book is the rules that have a check, and the checks by stage, each beside its
// rule.
type book struct {
	list   []fixtures.Rule
	rules  map[string]fixtures.Rule
	checks map[stage][]ruled
}

type ruled struct {
	fixtures.Rule
	judge func(*scene)
}

var open = sync.OnceValue(func() book {
	b := book{rules: map[string]fixtures.Rule{}, checks: map[stage][]ruled{}}
	judged := map[string]bool{}
	for _, k := range checks() {
		r, _ := fixtures.RuleByID(k.rule)
		judged[k.rule], b.checks[k.at] = true, append(b.checks[k.at], ruled{r, k.judge})
	}
	for _, r := range fixtures.Rules() {
		if judged[r.ID] {
			b.list, b.rules[r.ID] = append(b.list, r), r
		}
	}
	return b
})

// scene is what a check sees.
type scene struct {
	session *Session
	x       *observed // the exchange; nil at the end
	turn    *turn     // at atTurn
	end     End       // at atEnd
	where   string

	rule   fixtures.Rule // the check that is judging
	failed []results.Check
}

func (s *Session) run(at stage, c *scene) []results.Check {
	where := c.where
	for _, k := range open().checks[at] {
		c.rule, c.where = k.Rule, where // a check may say more exactly where
		k.judge(c)
	}
	c.where = where
	return c.failed
}

// expect is never nil.
func (c *scene) expect() *Expectation {
	if c.session.Expect == nil {
		return &Expectation{}
	}
	return c.session.Expect
}

// wire says what is so at every engine of the dialect.
func (c *scene) wire() codecs.Wire { return c.x.Codec.Wire() }

// mustIf is the level of a duty that the engine insists on, or does not.
func mustIf(due bool) results.Level {
	if due {
		return results.Must
	}
	return results.Should
}

// say reports a verdict; "" is the level of the rule.
func (c *scene) say(level results.Level, v results.Verdict, message, evidence string) {
	if level == "" {
		level = results.Level(c.rule.Level)
	}
	k := results.Check{ID: c.rule.ID, Side: c.rule.Side, Level: level, Verdict: v, Message: message, Evidence: texts.Bounded(evidence, mostEvidence)}
	if v == results.Fail {
		c.failed = append(c.failed, k)
	}
	if c.session.findings == nil {
		c.session.findings = map[string]results.Check{}
	}
	if old, ok := c.session.findings[k.ID]; !ok || severity(old) < severity(k) {
		c.session.findings[k.ID] = k
	}
}

func (c *scene) pass() { c.say("", results.Pass, "", "") }

func (c *scene) degraded(evidence string) { c.say("", results.Degraded, c.where, evidence) }

// fail says what was due and what was seen, in words.
func (c *scene) fail(want, got string) { c.failAt("", want, got) }

func (c *scene) failAt(level results.Level, want, got string) {
	c.say(level, results.Fail, c.where, "expected "+want+", seen "+got)
}

// severity orders verdicts; of two failures the one of the higher level counts.
func severity(k results.Check) int {
	switch {
	case k.Verdict == results.Fail && k.Level == results.Must:
		return 4
	case k.Verdict == results.Fail:
		return 3
	case k.Verdict == results.Degraded:
		return 2
	case k.Verdict == results.Pass:
		return 1
	}
	return 0
}

// mostEvidence keeps a document small when a body is large.
const mostEvidence = 600

// canonical is a JSON value in one spelling, for comparison.
func canonical(raw codecs.Raw) string {
	out, err := jsonx.Canonical(raw)
	if err != nil {
		return string(raw)
	}
	return string(out)
}
