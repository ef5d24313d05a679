package wire

import (
	"hash/fnv"
	"strconv"

	"github.com/toolconform/conform/codecs"
)

// MadeID makes the id of a call that came without one, for the echo and the
// result together. It depends on the body of the turn and the ordinal of the
// call only, so the same turn always gets the same ids and two turns do not
// share them. rule mistral9 gives nine letters and digits, every other rule
// prefix and nine characters.
func MadeID(body codecs.Raw, pos int, prefix, rule string) string {
	// A bounded sample, so that a turn of many calls does not hash its body once
	// for each of them.
	const sample = 4 << 10
	h := fnv.New64a()
	h.Write(body[:min(len(body), sample)])
	h.Write(body[max(len(body)-sample, 0):])
	h.Write([]byte(strconv.Itoa(len(body)) + "/" + strconv.Itoa(pos)))
	s := strconv.FormatUint(h.Sum64(), 36) + "000000000"
	if rule == "mistral9" {
		return s[:9]
	}
	return prefix + s[:9]
}
