// Package mutants holds planted faults as data: things that a client library or
// an engine gets wrong, so that every rule can be shown to be judged. The tests
// of the command plant them.
package mutants

import _ "embed" // for the faults

//go:embed mutants.json
var data []byte

// JSON returns {"places":{name:[place]},"faults":[fault]}.
func JSON() []byte { return append([]byte(nil), data...) }
