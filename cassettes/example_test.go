package cassettes_test

import (
	"fmt"

	"github.com/toolconform/conform/cassettes"
)

// Hold a request of a client against that of a tape.
func ExampleTape_Differs() {
	const url = "https://tides.example/v1/chat/completions"
	tape := cassettes.Tape{Name: "harbour", Exchanges: []cassettes.Exchange{{
		Request:  cassettes.Request{Method: "POST", URL: url, Body: []byte(`{"model":"m-1","n":1}`)},
		Response: cassettes.Response{Status: 200, Body: []byte(`{"choices":[]}`)},
	}}}
	for _, body := range []string{`{"n":2,"model":"m-1"}`, `{"n":1,"model":"m-1"}`} { // the order of keys is free
		fmt.Println(tape.Differs(0, cassettes.Request{Method: "POST", URL: url, Body: []byte(body)}))
	}
	// Output:
	// tape harbour: exchange 0: body /n: want 1, got 2
	// <nil>
}
