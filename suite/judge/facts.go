package judge

import (
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// thinkingIsOff tells whether the request switches thinking off.
func (c *scene) thinkingIsOff() bool {
	body := jsonx.Of(c.x.In.Body)
	return slices.ContainsFunc(c.wire().ThinkingOff, func(off codecs.Setting) bool { return jsonx.Equal(body.Lookup(off.Pointer).Raw(), off.Value) })
}

// storedHistory tells whether turns of the conversation are kept by the engine
// and do not stand in the request.
func (c *scene) storedHistory() bool {
	body := jsonx.Of(c.x.In.Body)
	return slices.ContainsFunc(c.wire().Stored, func(pointer string) bool { return body.Lookup(pointer).Defined() })
}

// orderPairs tells whether only the order pairs the results of a turn, and
// whether names may do so too.
func (c *scene) orderPairs(calls []codecs.ToolCall) (order, names bool) {
	switch c.wire().IDs {
	case codecs.IDsNever:
		return true, false
	case codecs.IDsOptional:
		order = slices.ContainsFunc(calls, func(call codecs.ToolCall) bool { return call.ID == "" })
	}
	return order, order
}
