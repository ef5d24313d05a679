package report

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"github.com/toolconform/conform/suite/results"
)

// cell is the glyph of a cell, coloured where colours are wanted.
func (t *text) cell(c results.Cell) string {
	g := glyph(c)
	switch c.Verdict {
	case results.Pass:
		return t.paint(g, lipgloss.Green)
	case results.Degraded, results.Unknown:
		return t.paint(g, lipgloss.Yellow)
	case results.Fail, results.Error:
		return t.paint(g, lipgloss.Red)
	}
	return t.faint(g)
}

func (t *text) paint(s string, c color.Color) string {
	if !t.color {
		return s
	}
	return lipgloss.NewStyle().Foreground(c).Render(s)
}

func (t *text) bold(s string) string {
	if !t.color {
		return s
	}
	return lipgloss.NewStyle().Bold(true).Render(s)
}

func (t *text) faint(s string) string {
	if !t.color {
		return s
	}
	return lipgloss.NewStyle().Faint(true).Render(s)
}
