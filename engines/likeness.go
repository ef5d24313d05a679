package engines

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Likeness is what the replies of an engine look like, and how that is known.
type Likeness struct {
	// Like names an engine of the catalogue whose replies look the same but for
	// what stands here.
	Like   string `json:"like,omitempty"`
	Origin Origin `json:"origin"`
	codecs.Likeness
}

// likeness lays the likenesses of the rules over that of the engine.
func (r *Resolved) likeness(l *Likeness) {
	if l != nil {
		r.Likeness, r.LikenessOrigin = over(r.Likeness, l.Likeness), l.Origin
	}
}

// over is what base says, but for what top says.
func over(base, top codecs.Likeness) codecs.Likeness {
	out := base
	out.Keys = maps.Clone(base.Keys)
	for path, k := range top.Keys {
		if out.Keys == nil {
			out.Keys = map[string]codecs.Keys{}
		}
		out.Keys[path] = overKeys(base.Keys[path], k)
	}
	out.IDs = laid(base.IDs, top.IDs)
	out.Finishes = laid(base.Finishes, top.Finishes)
	out.Cannot = laid(base.Cannot, top.Cannot)
	if top.Reasoning != "" {
		out.Reasoning = top.Reasoning
	}
	if top.Signatures != "" {
		out.Signatures = top.Signatures
	}
	if top.ErrorIn200 != nil {
		out.ErrorIn200 = top.ErrorIn200
	}
	if top.Mirror != nil {
		out.Mirror = top.Mirror
	}
	if top.Stream != nil {
		out.Stream = top.Stream
	}
	out.Uncounted = base.Uncounted || top.Uncounted
	return out
}

func laid(base, top map[string]string) map[string]string {
	if len(top) == 0 {
		return base
	}
	out := map[string]string{}
	maps.Copy(out, base)
	maps.Copy(out, top)
	return out
}

// overKeys gives each member the place that top has for it.
func overKeys(base, top codecs.Keys) codecs.Keys {
	said := slices.Concat(top.Never, top.Filled)
	var always jsonx.Fields
	for _, m := range jsonx.Of(base.Always).Members() {
		if !slices.Contains(top.Never, m.Key) {
			always.Set(m.Key, m.Value.Raw())
		}
	}
	for _, m := range jsonx.Of(top.Always).Members() {
		said = append(said, m.Key)
		always.Set(m.Key, m.Value.Raw())
	}
	still := func(keys []string) []string {
		return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return slices.Contains(said, k) })
	}
	return codecs.Keys{Always: always.Raw(), Never: append(still(base.Never), top.Never...), Filled: append(still(base.Filled), top.Filled...)}
}

// link lays the likeness of each engine over that of the engine that it names: one
// of c, or of the built-in catalogue.
func (c *Catalog) link() error {
	done := map[string]*codecs.Likeness{}
	var of func(e Engine, way []string) (*codecs.Likeness, error)
	of = func(e Engine, way []string) (*codecs.Likeness, error) {
		bad := func(format string, args ...any) error {
			return fmt.Errorf("engine file %s.json: likeness: like: %s", e.Name, fmt.Sprintf(format, args...))
		}
		if e.Likeness == nil {
			return &codecs.Likeness{}, nil
		}
		if e.Likeness.Like == "" {
			return &e.Likeness.Likeness, nil
		}
		if l := done[e.Name]; l != nil {
			return l, nil
		}
		if slices.Contains(way, e.Name) {
			return nil, bad("%s leads back to it", e.Likeness.Like)
		}
		base, err := c.named(e.Likeness.Like)
		switch {
		case err != nil:
			return nil, bad("%v", err)
		case base.Dialect != e.Dialect:
			return nil, bad("%s speaks %s, not %s", base.Name, base.Dialect, e.Dialect)
		}
		under, err := of(base, append(way, e.Name))
		if err != nil {
			return nil, err
		}
		own := over(*under, e.Likeness.Likeness)
		done[e.Name] = &own
		return &own, nil
	}
	for i, e := range c.engines {
		l, err := of(e, nil)
		if err != nil {
			return err
		}
		if e.Likeness != nil {
			c.engines[i].Likeness = &Likeness{Origin: e.Likeness.Origin, Likeness: *l}
		}
	}
	return nil
}

// named is an engine of the catalogue, or else of the built-in one.
func (c *Catalog) named(name string) (Engine, error) {
	if i := slices.IndexFunc(c.engines, func(e Engine) bool { return e.Name == name }); i >= 0 {
		return c.engines[i], nil
	}
	b, err := builtIn.ReadFile("catalogue/" + name + ".json")
	if err != nil {
		return Engine{}, fmt.Errorf("no engine is called %q", name)
	}
	return Parse(b)
}

// fault tells what is wrong with a likeness.
func (l *Likeness) fault(d codecs.Dialect) error {
	if l == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(l.IDs)) {
		if text := wire.IDForm(l.IDs[name]); text != "" {
			return fmt.Errorf("likeness: ids: %s: %s", name, text)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(l.Keys)) {
		if k := l.Keys[path]; len(k.Always) > 0 && !jsonx.Of(k.Always).IsObject() {
			return fmt.Errorf("likeness: keys: %q: always is no object", path)
		}
	}
	c, err := all.For(d)
	if err != nil {
		return nil // said elsewhere
	}
	for _, way := range l.Stream {
		if ways := c.Wire().StreamWays; !slices.Contains(ways, way) {
			return fmt.Errorf("likeness: stream: %q is none of the ways of %s: %s", way, d, strings.Join(ways, ", "))
		}
	}
	return nil
}
