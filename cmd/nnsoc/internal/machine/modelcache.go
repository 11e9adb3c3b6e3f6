package machine

import (
	"crypto/sha256"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nnrt"
)

// ModelCache is the folder in which an application has drivers keep what they compiled, with its name for it.
type ModelCache struct{ dir, token string }

// Add adds the flags.
func (c *ModelCache) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.dir, "cache-dir", "", "compilation cache of NNAPI: a folder where drivers keep what they compiled, and take it from the next time")
	fl.StringVar(&c.token, "token", "", "name of the network in --cache-dir, as an application gives one (default: a hash of the network)")
}

// Given reports whether the flags were.
func (c *ModelCache) Given() bool { return c.dir != "" || c.token != "" }

// For is the cache of a model, whose folder is made if there is none. The zero ModelCache is no cache.
func (c *ModelCache) For(m *nn.Model) (nnrt.Cache, error) {
	if c.dir == "" {
		if c.token != "" {
			return nnrt.Cache{}, cli.Usage(errors.New("--token names a network in a compilation cache: give --cache-dir too"))
		}
		return nnrt.Cache{}, nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nnrt.Cache{}, cli.Usage(err)
	}
	return nnrt.Cache{Dir: c.dir, Token: c.name(m)}, nil
}

// name is the token: of a name or of all that the model is.
func (c *ModelCache) name(m *nn.Model) hal.CacheToken {
	if c.token != "" {
		return sha256.Sum256([]byte(c.token))
	}
	var w cache.Writer
	w.Model(m, true)
	model, data := w.Parts()
	h := sha256.New()
	h.Write(model)
	h.Write(data)
	return hal.CacheToken(h.Sum(nil))
}
