package laws

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// FuzzStream is law 2: a stream cut at any bytes gives the same reply or the same
// typed error, its rebuilt body decodes to that reply, and with an error nothing of
// it can run. The bytes and the places where they are cut are fuzzed together.
func FuzzStream(f *testing.F, s Dialect) {
	cases, err := fixtures.LoadCases(fixtures.FS(), string(s.Codec.Dialect()))
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		if text := jsonx.Of(c.Input).Get("stream_text").Str(); text != "" {
			f.Add([]byte(text), uint64(len(text)))
		}
	}
	streamer := s.Codec.(codecs.Streamer)
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want, wantErr := wire.DecodeStream(streamer, codecs.Profile{}, stream)
		if wantErr != nil {
			typed(t, s.Codec.Dialect(), wantErr)
			if len(want.Calls()) > 0 {
				t.Fatalf("%d calls beside the error %v", len(want.Calls()), wantErr)
			}
		} else {
			body, err := s.Codec.Reply(want.Body, codecs.Profile{})
			if err != nil {
				t.Fatalf("the rebuilt body: %v\n%s", err, want.Body)
			}
			if !same(body, want) {
				t.Fatalf("the rebuilt body decodes to another reply: %s", want.Body)
			}
		}
		random := rand.New(rand.NewPCG(seed, 1))
		for range 3 {
			var cuts []int
			for range 1 + random.IntN(5) {
				cuts = append(cuts, random.IntN(len(stream)+1))
			}
			slices.Sort(cuts)
			got, err := wire.DecodeStream(streamer, codecs.Profile{}, stream, cuts...)
			if !same(got, want) || !sameError(err, wantErr) {
				t.Fatalf("cut at %v: %v, whole: %v", cuts, err, wantErr)
			}
		}
	})
}

// same compares two replies but for their warnings.
func same(a, b codecs.Reply) bool {
	a.Warnings, b.Warnings = nil, nil
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	var x, y *codecs.ProviderError
	if errors.As(a, &x) && errors.As(b, &y) {
		return reflect.DeepEqual(x, y)
	}
	return a.Error() == b.Error()
}
