package engines_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolconform/conform/engines"
)

func keyServer(t *testing.T) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Authorization")) }))
	t.Cleanup(srv.Close)
	return srv.URL
}

func needSh(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
}

// What a key command leaves in the background is not waited for; one that hangs
// ends with the context, and so does who waits for its turn.
func TestKeyCommandEnds(t *testing.T) {
	needSh(t)
	base := keyServer(t)
	for _, c := range []struct {
		name, script, want string // the reply, or the error after !
	}{
		{"background", "sleep 20 & echo tok-en", "Bearer tok-en"},
		{"hangs", "sleep 20", "!it was stopped: context deadline exceeded"},
		{"hangs with a child", "sleep 20; echo tok-en", "!it was stopped: context deadline exceeded"},
	} {
		e := custom("command")
		e.Command = []string{"sh", "-c", c.script}
		cl := &engines.Client{Engine: e, BaseURL: base}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		began := time.Now()
		_, reply, err := send(ctx, cl, `{}`)
		took := time.Since(began)
		cancel()
		if want, failed := strings.CutPrefix(c.want, "!"); failed {
			if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error = %v, want %s", c.name, err, want)
			}
		} else if err != nil || reply != c.want {
			t.Errorf("%s: %s (%v)", c.name, reply, err)
		}
		if took > 10*time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
	// Two requests at once, one of them in less of a hurry.
	e := custom("command")
	started := t.TempDir() + "/started"
	e.Command = []string{"sh", "-c", "echo >" + started + "; sleep 20"}
	cl := &engines.Client{Engine: e, BaseURL: base}
	long, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := send(long, cl, `{}`)
		done <- err
	}()
	for { // until the first one has its turn
		if _, err := os.Stat(started); err == nil {
			break
		}
		runtime.Gosched()
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, _, err := send(short, cl, `{}`); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("waiting for its turn: %v after %v", err, time.Since(began))
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestKeyCommandPrintsTooMuch(t *testing.T) {
	needSh(t)
	e := custom("bearer")
	e.Keys = []string{"QUAY_API_KEY"}
	for _, script := range []string{"while :; do echo tok-en-tok-en-tok-en; done", "trap '' PIPE; while :; do echo tok-en-tok-en-tok-en; done 2>/dev/null"} {
		cl := &engines.Client{Engine: e, Command: []string{"sh", "-c", script}, BaseURL: keyServer(t)}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, _, err := send(ctx, cl, `{}`)
		cancel()
		if err == nil || strings.Contains(err.Error(), "tok-en") {
			t.Fatalf("error = %v", err)
		}
		for _, want := range []string{"more than 64 KiB", "Client.Command", "QUAY_API_KEY", "the key command sh"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %v, want %q in it", err, want)
			}
		}
	}
}

// A key in the place of a header's name, or one that cannot be sent, is not shown.
func TestSecretsInHeadersStayOut(t *testing.T) {
	for _, key := range []string{secret, `s3cr3t "quoted"\key`, "s3cr3t-token-as-a-name", "s3cr3t\nkey", "s3cr3t é"} {
		for name, cl := range map[string]*engines.Client{
			"own header":         {Engine: custom("none"), Headers: map[string]string{key: "X-Api-Key"}},
			"own header and key": {Engine: custom("bearer"), Key: key, Headers: map[string]string{key: "v"}},
			"bad value":          {Engine: custom("none"), Headers: map[string]string{key: "a\nb"}},
			"swapped":            {Engine: custom("header:" + key), Key: key},
			"value":              {Engine: custom("header:X-Key"), Key: key},
			"bearer":             {Engine: custom("bearer"), Key: key},
		} {
			cl.BaseURL, cl.MaxRetries = "http://"+deadAddress(t), -1
			_, _, err := send(t.Context(), cl, `{}`)
			if err == nil {
				t.Fatalf("%s: nothing listens there", name)
			}
			if text := strings.ToLower(err.Error()); strings.Contains(text, "s3cr3t") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	// An answer that is no HTTP and repeats the key.
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "nothing:"+r.Header.Get("X-Key")+"\r\n\r\n")
	}))
	defer srv.Close()
	const key = `s3cr3t"quoted"\key`
	cl := &engines.Client{Engine: custom("header:X-Key"), Key: key, BaseURL: srv.URL, MaxRetries: -1}
	_, _, err := send(t.Context(), cl, `{}`)
	if err == nil || strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), "REDACTED") {
		t.Errorf("error = %v", err)
	}
}

// A folder of engines may hold what is no file, and a file without an end.
func TestLoadReadsFilesOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.json")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	_, err := engines.LoadFS(os.DirFS(dir))
	if err == nil || !strings.Contains(err.Error(), "zero.json is a device; give a regular file") {
		t.Errorf("loaded: %v", err)
	}
	if faults := fmt.Sprint(engines.LintFS(os.DirFS(dir))); !strings.Contains(faults, "zero.json is a device") {
		t.Errorf("linted: %s", faults)
	}
}
