package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// AddCache adds the flags of NNAPI's compilation cache to a command that compiles networks. All that it compiles on the
// registry of a Machine is kept there.
func AddCache(a *cli.App, cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&a.CacheDir, "cache-dir", "", "compilation cache of NNAPI: a folder where drivers save what they compiled, and load it from the next time")
	fl.StringVar(&a.CacheToken, "token", "", "name of the network in --cache-dir, as an application sets one (default: a hash of the network)")
}

// HasCache reports whether flags of the cache are set.
func HasCache(a *cli.App) bool { return a.CacheDir != "" || a.CacheToken != "" }

// openCache makes the folder of the compilation cache if there is none.
func openCache(a *cli.App) error {
	if a.CacheDir == "" {
		if a.CacheToken != "" {
			return cli.Usage(errors.New("--token names a network in a compilation cache: give --cache-dir too"))
		}
		return nil
	}
	if err := os.MkdirAll(a.CacheDir, 0o700); err != nil {
		return cli.Usage(err)
	}
	return nil
}

// cacheOf is the cache of a network of an application on a SoC. Without a name for it, SoCs of a concurrent sweep have
// separate caches. A name that another network has in the folder is an error.
func cacheOf(a *cli.App, c *soc.Config) func(m *nn.Model) (registry.Cache, error) {
	phone, _ := cache.Fingerprint(c) // a SoC that was read has one
	return func(m *nn.Model) (registry.Cache, error) {
		if a.CacheToken == "" {
			return registry.Cache{Dir: a.CacheDir, Token: contents(m, phone)}, nil
		}
		token := sha256.Sum256([]byte(a.CacheToken))
		return registry.Cache{Dir: a.CacheDir, Token: token}, claim(a, token, m)
	}
}

// claim records in the folder of the cache which network a token names: a file whose name is
// the token, with a digest of the network and its name. NNAPI leaves it to the application
// that each network has a token of its own; a driver that is given the token of another
// network runs that one.
func claim(a *cli.App, token hal.CacheToken, m *nn.Model) error {
	path := filepath.Join(a.CacheDir, hex.EncodeToString(token[:])+".network")
	digest := contents(m, "")
	line := hex.EncodeToString(digest[:]) + " " + m.Name + "\n"
	temporary, err := os.CreateTemp(a.CacheDir, "*.tmp")
	if err != nil {
		return cli.Usage(err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	if _, err = temporary.WriteString(line); err == nil {
		err = temporary.Close()
	}
	if err == nil {
		err = os.Link(temporary.Name(), path) // whole or not at all, once
	}
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	known, err := os.ReadFile(path)
	if err != nil {
		return cli.Usage(err)
	}
	if owner, name, _ := strings.Cut(strings.TrimSpace(string(known)), " "); owner != hex.EncodeToString(digest[:]) {
		return cli.Usage(fmt.Errorf("--token %s names %s in the cache %s, this is another network (%s): give it a token of its own, or none", a.CacheToken, name, a.CacheDir, m.Name))
	}
	return nil
}

// Keeping is a device that keeps its compilations in the cache, for commands that call drivers without a runtime. They
// compile many models: a token names one of them together with its contents.
func Keeping(a *cli.App, d hal.Device) hal.Device {
	if a.CacheDir == "" {
		return d
	}
	return registry.Keeping(d, func(m *nn.Model) registry.Cache {
		return registry.Cache{Dir: a.CacheDir, Token: contents(m, a.CacheToken)}
	})
}

// contents is a token of all that a model is, and of something besides.
func contents(m *nn.Model, besides string) hal.CacheToken {
	var w cache.Writer
	w.Model(m, true)
	model, data := w.Parts()
	h := sha256.New()
	h.Write([]byte(besides + "\x00"))
	h.Write(model)
	h.Write(data)
	return hal.CacheToken(h.Sum(nil))
}
