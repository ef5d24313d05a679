package judge

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// thinkingIsOff tells whether the request switches thinking off.
func (c *scene) thinkingIsOff() bool {
	body := jsonx.Of(c.x.In.Body)
	for _, off := range c.wire().ThinkingOff {
		if jsonx.Equal(body.Lookup(off.Pointer).Raw(), off.Value) {
			return true
		}
	}
	return false
}

// storedHistory tells whether turns of the conversation are kept by the engine
// and do not stand in the request.
func (c *scene) storedHistory() bool {
	body := jsonx.Of(c.x.In.Body)
	for _, pointer := range c.wire().Stored {
		if body.Lookup(pointer).Defined() {
			return true
		}
	}
	return false
}

// orderPairs tells whether only the order pairs the results of a turn, and
// whether names may do so too.
func (c *scene) orderPairs(calls []codecs.ToolCall) (order, names bool) {
	switch c.wire().IDs {
	case codecs.IDsNever:
		return true, false
	case codecs.IDsOptional:
		for _, call := range calls {
			if call.ID == "" {
				return true, true
			}
		}
	}
	return false, false
}
