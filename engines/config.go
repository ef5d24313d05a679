package engines

import (
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/loop"
)

// Config is the loop's configuration for an engine of the built-in catalogue with
// a model, "" is the engine's default: codec, profile, model and a *Client as
// sender, with the key of the engine's variables. Messages and servers are the
// caller's to set. getenv is os.Getenv.
func Config(engine, model string, getenv func(string) string) (loop.Config, error) {
	catalog, err := Load()
	if err != nil {
		return loop.Config{}, err
	}
	e, err := catalog.Lookup(engine)
	if err != nil {
		return loop.Config{}, err
	}
	r := e.Resolve(model)
	codec, err := all.For(r.Dialect)
	if err != nil {
		return loop.Config{}, err
	}
	key, _ := e.Key(getenv)
	return loop.Config{
		Codec: codec, Profile: r.Profile, Model: r.Model,
		Sender: &Client{Engine: r.Engine, Codec: codec, Model: r.Model, Key: key},
	}, nil
}
