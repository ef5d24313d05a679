package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/toolconform/conform/internal/secrets"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{`{"key":"sk-` + strings.Repeat("a1", 10) + `"}`, 1},
		{`{"key":"sk-short"}`, 0},
		{"AKIA" + strings.Repeat("Z", 16), 1},
		{"Authorization: Bearer " + strings.Repeat("x", 20), 1},
		{"the bearer of this letter", 0},
		{"risk-averse-and-otherwise-quiet-text", 0},
		{"Bearer REDACTED", 0},
		{"the bearer responsibilities-and-duties of a pilot", 0},
		{"Bearer aaaaBBBBcccc/DDDDeeee", 1},
		{"use sk-learn-pipelines-and-transformers", 0},
		{"sk-learn-v2-0-2024-user-guide-edition-3", 0},
		{"sk-proj-Zx0Q_w8Zt7Vy6Uk5Rj4Pm3", 1},
		{"sk-ant-api03-" + strings.Repeat("aB3-", 3) + strings.Repeat("q9", 10), 1},
		{"call_0000000000000000000001", 0},
	} {
		if got := secrets.Find([]byte(c.text)); len(got) != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
		if got := secrets.RedactShapes([]byte(c.text)); len(secrets.Find(got)) != 0 {
			t.Errorf("%s: %s still holds one", c.text, got)
		}
	}
}

func TestFindPaths(t *testing.T) {
	for text, want := range map[string]int{
		`see /home/ann/x`: 1, `"/root/y"`: 1, `file:///Users/ann`: 1, `C:\Users\ann`: 1, `{"p":"C:\\Users\\ann"}`: 1,
		`https://example.com/home/x`: 0, `/work/`: 0, `/homework/x`: 0, `a/root/b`: 0,
	} {
		if got := secrets.FindPaths([]byte(text)); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// A secret must be found however a body spells it.
func TestSpellings(t *testing.T) {
	const secret = `pa ss/w"ord+é`
	re, err := secrets.Spellings(secret)
	if err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(secret)
	nested, _ := json.Marshal(string(quoted))
	texts := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted), string(nested)}
	for _, before := range []string{"", "u:", "us:", "usr:"} {
		texts = append(texts, base64.StdEncoding.EncodeToString([]byte(before+secret+"tail")), base64.URLEncoding.EncodeToString([]byte(before+secret)))
	}
	for _, text := range texts {
		if !re.MatchString("x" + text + "y") {
			t.Errorf("not found in %s", text)
		}
	}
	if re.MatchString("password") {
		t.Error("matches something else")
	}
	if _, err := secrets.Spellings("abc"); err == nil {
		t.Error("a short secret is accepted")
	}
}

// TestSpellingsBeyondTheBasicPlane: JSON may write such a character as a
// surrogate pair, and JSON inside JSON doubles the backslashes.
func TestSpellingsBeyondTheBasicPlane(t *testing.T) {
	re, err := secrets.Spellings("key\U0001f30aend")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"key\U0001f30aend", `key\ud83c\udf0aend`, `key\uD83C\uDF0Aend`, `key\\ud83c\\udf0aend`, "key%F0%9F%8C%8Aend"} {
		if got := re.ReplaceAllString("<"+text+">", "-"); got != "<->" {
			t.Errorf("%s: left %s", text, got)
		}
	}
}
