package cassettes_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/toolconform/conform/cassettes"
)

// Play a tape to a client. The player is a transport: it answers from the tape,
// in its order, and refuses a request that is not the recorded one.
func ExampleNewPlayer() {
	tape := cassettes.Tape{Name: "harbour", Exchanges: []cassettes.Exchange{{
		Request:  cassettes.Request{Method: "POST", URL: "https://tides.example/v1/chat/completions", Body: []byte(`{"model":"m-1","n":1}`)},
		Response: cassettes.Response{Status: 200, Body: []byte(`{"choices":[]}`)},
	}}}
	player := cassettes.NewPlayer(tape)
	client := &http.Client{Transport: player}
	post := func(body string) {
		resp, err := client.Post("http://127.0.0.1:1/v1/chat/completions", "application/json", bytes.NewBufferString(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		fmt.Println(resp.Status, string(b), err)
	}
	post(`{"n":2,"model":"m-1"}`)
	fmt.Println(player.Unused())
	post(`{"n":1,"model":"m-1"}`) // the order of keys is free
	fmt.Println(player.Unused())
	// Output:
	// Post "http://127.0.0.1:1/v1/chat/completions": tape harbour: exchange 0: body /n: want 1, got 2
	// [0]
	// 200 OK {"choices":[]} <nil>
	// []
}
