package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/texts"
)

func promptChecks() []check {
	return []check{{"prompt.kept", atRequest, promptKept}}
}

// promptKept looks for the texts of the prompt, in order, and for its media.
func promptKept(c *scene) {
	if c.expect().Prompt == nil || c.x.RequestErr != nil {
		return
	}
	wanted, media := content(c.expect().Prompt)
	seen, seenMedia := content(c.x.Request.Messages)
	all := strings.Join(append(seen, ""), "\n")
	rest := all
	for _, t := range wanted {
		at := strings.Index(rest, t)
		if at < 0 && c.wire().SystemFirst && strings.Contains(all, t) {
			continue
		}
		if at < 0 {
			c.fail(fmt.Sprintf("the prompt text %q", t), fmt.Sprintf("%q", texts.Bounded(all, mostEvidence)))
			return
		}
		rest = rest[at+len(t):]
	}
	have := map[string]bool{}
	for _, m := range seenMedia {
		have[m] = true
	}
	for _, m := range media {
		switch {
		case have[m]:
		case c.x.Profile.PromptImages == codecs.MediaPlaceholder:
			c.degraded("the engine takes no media in prompts: a line of text stands for them")
		default:
			c.fail("the media of the prompt", fmt.Sprintf("%d other media", len(seenMedia)))
			return
		}
	}
	c.pass()
}

// content lists the texts and the media of messages.
func content(messages []codecs.Message) (texts, media []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Kind == codecs.KindText:
				texts = append(texts, p.Text)
			case p.Kind == codecs.KindMedia && p.Media != nil:
				media = append(media, mediaKey(*p.Media))
			}
		}
	}
	return texts, media
}
