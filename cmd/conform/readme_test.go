package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	repoRoot = "../.."
	goRun    = "go run ./cmd/conform"
)

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(repoRoot + "/README.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no README.md yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// shellLines returns the commands of every sh block, in order.
func shellLines(text string) []string {
	var out []string
	in := false
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			in = !in && trimmed == "```sh"
		case in && trimmed != "" && !strings.HasPrefix(trimmed, "#"):
			out = append(out, trimmed)
		}
	}
	return out
}

var (
	exitComment = regexp.MustCompile(`\s+# exit (\d+)$`)
	makeTarget  = regexp.MustCompile(`^make ([a-z]+)$`)
	makeInline  = regexp.MustCompile("`make ([a-z]+)`")
)

// TestReadmeCommands runs every command of the README: the main job with its
// pipes and redirections through a shell, in the root of the repository. Longer
// jobs are only checked to be there. A line that is neither fails.
func TestReadmeCommands(t *testing.T) {
	text := readme(t)
	lines := shellLines(text)
	if len(lines) == 0 {
		t.Fatal("the README has no sh block with a command")
	}
	ci := file(t, "/.ci/run")
	makefile := file(t, "/Makefile")
	hasTarget := func(t *testing.T, name string) {
		if !regexp.MustCompile(`(?m)^` + name + `:`).MatchString(makefile) {
			t.Errorf("the Makefile has no target %s", name)
		}
	}
	conform, tmp := conformBinary(t), t.TempDir()
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			want := 0
			if m := exitComment.FindStringSubmatch(line); m != nil {
				want, _ = strconv.Atoi(m[1])
				line = strings.TrimSuffix(line, m[0])
			}
			target := makeTarget.FindStringSubmatch(line)
			switch {
			case strings.HasPrefix(line, goRun+" "), strings.HasPrefix(line, "echo ") && strings.Contains(line, "| "+goRun+" "):
				line = strings.ReplaceAll(line, goRun+" ", conform+" ")
				if strings.Contains(line, "go run") {
					t.Fatalf("a command of another program: %s", line)
				}
				shell(t, strings.ReplaceAll(line, "/tmp/conform.", tmp+"/conform."), want)
			case strings.HasPrefix(line, "go test "):
				if !strings.Contains(ci, "\n"+line+"\n") {
					t.Errorf(".ci/run does not run it, so nobody knows whether it passes")
				}
			case target != nil:
				hasTarget(t, target[1])
			case line == ".ci/run":
			default:
				t.Errorf("no test runs this line; begin it with %q, go test, make or .ci/run", goRun)
			}
		})
	}
	for _, m := range makeInline.FindAllStringSubmatch(text, -1) {
		hasTarget(t, m[1])
	}
}

func file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(repoRoot + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// shell runs a line in the root of the repository. No key variable reaches it.
func shell(t *testing.T, line string, want int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = repoRoot
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GORACE=" + noWait}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("exit code %d, want %d\n%s", got, want, out.String())
	}
}

func TestShellLines(t *testing.T) {
	got := strings.Join(shellLines("a\n```sh\none\n# two\n\n three # exit 1\n```\n```\nfour\n```\n```json\nfive\n```\n```sh\nsix\n```\nseven"), "|")
	if want := "one|three # exit 1|six"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
