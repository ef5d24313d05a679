package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/procs"
	"github.com/toolconform/conform/internal/secrets"
)

// stdio is the connection to a child process. It stands in place of the one of
// mcp-go, which reads lines without a limit, drops an answer that it cannot
// decode, so that its call never ends, waits for a child that does not read, and
// writes to this process's standard error.
type stdio struct {
	command string
	args    []string
	env     []string

	starting sync.Mutex // held while the child starts
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *os.File
	errors   tail

	lines   chan []byte   // to write; a sender may give up
	replies chan []byte   // answers to what the server asks
	exited  chan struct{} // closed when the child has ended
	over    chan struct{} // closed when what it started has ended, too
	ended   chan struct{} // closed with failed

	mu      sync.Mutex
	waiting map[string]chan message // by id
	failed  error                   // why there is no connection any more
}

var errClosed = errors.New("the connection is closed")

// Times that a child gets: to end when its input ended, to end when it was told
// to, and to have its last words read.
const (
	graceInput = 2 * time.Second
	graceTerm  = 3 * time.Second
	graceRead  = time.Second
)

func newStdio(command string, args, env []string) *stdio {
	return &stdio{
		command: command, args: args, env: env,
		lines: make(chan []byte), replies: make(chan []byte, 64),
		exited: make(chan struct{}), over: make(chan struct{}), ended: make(chan struct{}), waiting: map[string]chan message{},
	}
}

// Start starts the child. It does not end with ctx.
func (s *stdio) Start(context.Context) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.cmd != nil {
		return nil
	}
	if err := s.failure(); err != nil { // closed before it began
		return err
	}
	cmd := exec.Command(s.command, s.args...)
	procs.Own(cmd)
	cmd.Env = append(environment(), s.env...)
	cmd.Stderr = &s.errors
	cmd.WaitDelay = graceRead // what the child started may hold its standard error open
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = write
	err = cmd.Start()
	write.Close()
	if err != nil {
		read.Close()
		return err
	}
	s.cmd, s.in, s.out = cmd, in, read
	go s.watch()
	go s.write()
	go s.read()
	return nil
}

// inherited are the variables that a child gets from this process: what programs
// need to run at all, and no keys. They are those that the MCP SDKs pass on, and
// what names language and place.
var inherited = []string{
	"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
	"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES",
	"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
}

func environment() []string {
	var out []string
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const mostTail = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(len(p)-mostTail, 0):]...)
	t.b = append([]byte(nil), t.b[max(len(t.b)-mostTail, 0):]...)
	return len(p), nil
}

// explained adds the end of the child's standard error to an error.
func (s *stdio) explained(err error) error {
	s.errors.mu.Lock()
	words := strings.TrimSpace(strings.ToValidUTF8(string(secrets.RedactShapes(s.errors.b)), "\uFFFD"))
	s.errors.mu.Unlock()
	if words == "" {
		return err
	}
	return fmt.Errorf("%w; the end of its standard error:\n%s", err, words)
}

// started tells whether there is a child.
func (s *stdio) started() bool {
	s.starting.Lock()
	defer s.starting.Unlock()
	return s.cmd != nil
}

// watch waits for the child. What it started may hold its output open; that is
// read for a moment more, and then ended: nobody can reach it any longer.
func (s *stdio) watch() {
	_ = s.cmd.Wait()
	close(s.exited)
	select {
	case <-s.ended:
	case <-time.After(graceRead):
	}
	s.out.Close()
	procs.Terminate(s.cmd, graceTerm)
	close(s.over)
}

func (s *stdio) write() {
	for {
		var line []byte
		select {
		case line = <-s.lines:
		case line = <-s.replies:
		case <-s.ended:
			return
		}
		if _, err := s.in.Write(line); err != nil {
			select { // the reader knows better why
			case <-s.ended:
			case <-time.After(graceRead):
				s.fail(fmt.Errorf("writing to the server: %w", err))
			}
			return
		}
	}
}

func (s *stdio) read() {
	r := bufio.NewReaderSize(s.out, 64<<10)
	for {
		line, err := readLine(r, MaxAnswer)
		if errors.Is(err, errTooLarge) {
			s.fail(&AnswerError{fmt.Sprintf("it wrote more than %d MiB without the end of a line", MaxAnswer>>20)})
			_ = procs.Kill(s.cmd) // it may never stop
			return
		}
		s.receive(line)
		if err != nil {
			select {
			case <-s.exited:
				s.fail(s.explained(fmt.Errorf("the server ended: %s", s.cmd.ProcessState)))
			case <-time.After(graceRead):
				s.fail(s.explained(errors.New("the server closed its output")))
			}
			return
		}
	}
}

// readLine reads a line of at most most bytes.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > most {
			return nil, errTooLarge
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// receive hands one line of the server on.
func (s *stdio) receive(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '[' {
		if batch, err := jsonx.Parse(line); err == nil {
			for _, item := range batch.Items() {
				s.receive(item.Raw())
			}
		}
		return
	}
	m, ok := readMessage(line)
	switch {
	case !ok:
	case m.method != "":
		s.asked(m)
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		for id, ch := range s.waiting {
			// An error without an id says that the server could not read a request,
			// and does not say which.
			if id == m.id || m.id == "" {
				ch <- m
				delete(s.waiting, id)
			}
		}
	}
}

// asked answers a request of the server: this client can do nothing for it but
// show that it lives. Notifications are passed over.
func (s *stdio) asked(m message) {
	if m.id == "" {
		return
	}
	var f jsonx.Fields
	f.Str("jsonrpc", mcp.JSONRPC_VERSION).Set("id", m.rawID)
	if m.method == string(mcp.MethodPing) {
		f.Set("result", jsonx.Raw(`{}`))
	} else {
		f.Set("error", jsonx.Raw(`{"code":-32601,"message":"this client answers no requests but ping"}`))
	}
	select {
	case s.replies <- append(f.Raw(), '\n'):
	default:
		s.fail(errors.New("the server asks and does not read the answers"))
	}
}

// fail ends the connection for everyone. The first reason stays.
func (s *stdio) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
		close(s.ended)
	}
}

func (s *stdio) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// send puts a message on its way, as long as the child reads.
func (s *stdio) send(ctx context.Context, v any) error {
	if !s.started() {
		return errors.New("the server was not started")
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	select {
	case <-s.ended:
		return s.failure()
	default:
	}
	select {
	case s.lines <- append(line, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended:
		return s.failure()
	}
}

// SendRequest sends a request and waits for its answer.
func (s *stdio) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, answer := fmt.Sprint(req.ID.Value()), make(chan message, 1)
	s.mu.Lock()
	s.waiting[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	if err := s.send(ctx, req); err != nil {
		return nil, err
	}
	var m message
	select {
	case m = <-answer:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ended:
		select {
		case m = <-answer: // its last words
		default:
			return nil, s.failure()
		}
	}
	if m.fault != nil {
		return nil, m.fault
	}
	return &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: req.ID, Result: m.result, Error: m.rpc}, nil
}

// SendNotification sends a notification.
func (s *stdio) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	return s.send(ctx, n)
}

// SetNotificationHandler does nothing: no notification matters to a tool loop.
func (s *stdio) SetNotificationHandler(func(mcp.JSONRPCNotification)) {}

// GetSessionId is empty: the child is the session.
func (s *stdio) GetSessionId() string { return "" }

// Close ends the input of the child, and what does not end by itself of the child
// and all that it started.
func (s *stdio) Close() error {
	s.fail(errClosed)
	if !s.started() {
		return nil
	}
	s.in.Close()
	if s.gone(graceInput) {
		return nil
	}
	procs.Terminate(s.cmd, graceTerm)
	return s.abort()
}

// abort ends the child at once.
func (s *stdio) abort() error {
	s.fail(errClosed)
	if !s.started() || s.gone(0) { // a process of the same number may live by now
		return nil
	}
	_ = procs.Kill(s.cmd)
	s.in.Close()
	if !s.gone(graceTerm) {
		return errors.New("the server's process does not end")
	}
	return nil
}

func (s *stdio) gone(most time.Duration) bool {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-s.over:
		return true
	case <-t.C:
		return false
	}
}
