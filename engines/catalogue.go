package engines

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/internal/files"
	"github.com/toolconform/conform/internal/suggest"
)

//go:embed schema.json catalogue/*.json
var builtIn embed.FS

// Catalog is a set of engines with unique names.
type Catalog struct{ engines []Engine }

// Load reads the built-in catalogue.
func Load() (*Catalog, error) {
	sub, err := fs.Sub(builtIn, "catalogue")
	if err != nil {
		return nil, err
	}
	return LoadFS(sub)
}

// mostEntry bounds the file of an engine, in bytes.
const mostEntry = 1 << 20

// LoadFS reads every *.json file at the root of dir as one engine. The error
// joins what is wrong with each of them and names the file.
func LoadFS(dir fs.FS) (*Catalog, error) {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, err
	}
	c := &Catalog{}
	var errs []error
	for _, name := range names {
		b, err := files.ReadFS(dir, name, mostEntry)
		if err != nil {
			errs = append(errs, fmt.Errorf("engine file %w", err))
			continue
		}
		e, err := Parse(b)
		if err == nil && e.Name != strings.TrimSuffix(path.Base(name), ".json") {
			err = fmt.Errorf("name is %q: rename the file or the engine", e.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("engine file %s: %w", name, err))
			continue
		}
		c.engines = append(c.engines, e)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(c.engines, compare)
	return c, c.link()
}

// Parse reads one entry and checks what the client relies on: a key that no
// field has, an unknown dialect or auth kind, a placeholder without a variable.
func Parse(b []byte) (Engine, error) {
	var e Engine
	if err := strict(b, &e); err != nil {
		return Engine{}, err
	}
	if err := e.check(); err != nil {
		return Engine{}, err
	}
	return e, nil
}

// strict decodes and refuses unknown keys, which are misspelt ones.
func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("text after the JSON value")
	}
	return nil
}

// compare orders by dialect, then the dialect's own provider, then by name.
func compare(a, b Engine) int {
	if x, y := rank(a.Dialect), rank(b.Dialect); x != y {
		return x - y
	}
	if x, y := own(a), own(b); x != y {
		if x {
			return -1
		}
		return 1
	}
	return strings.Compare(a.Name, b.Name)
}

func rank(d codecs.Dialect) int { return slices.Index(codecs.Dialects(), d) }

// own tells whether the engine is the provider that the dialect comes from.
func own(e Engine) bool { return e.Name == wireOf(e.Dialect).Home }

// wireOf describes a dialect; nothing for one that does not exist.
func wireOf(d codecs.Dialect) codecs.Wire {
	c, err := all.For(d)
	if err != nil {
		return codecs.Wire{}
	}
	return c.Wire()
}

// All returns the engines by dialect, the dialect's own provider first, then by
// name.
func (c *Catalog) All() []Engine { return slices.Clone(c.engines) }

// Names returns the names in the order of All.
func (c *Catalog) Names() []string {
	out := make([]string, len(c.engines))
	for i, e := range c.engines {
		out[i] = e.Name
	}
	return out
}

// Lookup finds an engine by name, case ignored. The error of an unknown name
// suggests those that come near.
func (c *Catalog) Lookup(name string) (Engine, error) {
	for _, e := range c.engines {
		if strings.EqualFold(e.Name, name) {
			return e, nil
		}
	}
	hint := suggest.Text(name, c.Names())
	if hint == "" {
		hint = "; `conform list engines` lists them"
	}
	return Engine{}, fmt.Errorf("no engine is called %q%s", name, hint)
}
