package mlts

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim"
)

// compilations measures the three kinds of compiling a network for a device; nil when a driver does not report the
// time. Kinds that need a cache are left out where no part of the network is cached. The time of a compilation does not
// depend on earlier ones, so each kind is compiled once and its time repeated for the span.
func (b *Benchmark) compilations(net *nn.Model, device string) (_ *Compilation, err error) {
	defer try.Catch(&err)
	dir := try.V(os.MkdirTemp("", "nnsoc-mlts"))
	defer func() { _ = os.RemoveAll(dir) }()
	c := &Compilation{}
	compile := func(cache registry.Cache) (l *Latency, hits int, err error) {
		compiled, err := nnrt.Compile(b.Registry, net, device, nnrt.CompileOptions{Cache: cache})
		if err != nil {
			return nil, 0, err
		}
		fs, known := compiled.PreparedFs()
		if !known || fs == 0 {
			return nil, 0, nil
		}
		l, _, err = b.Span.repeat(1, func() (sim.Time, error) { return sim.Time(fs), nil })
		return l, compiled.CacheHits, err
	}
	if c.WithoutCache, _, err = compile(registry.Cache{}); err != nil || c.WithoutCache == nil {
		return nil, err
	}
	cache := registry.Cache{Dir: dir, Token: hal.CacheToken{1}}
	c.SaveToCache, _ = try.V2(compile(cache))
	c.CacheBytes = try.V(folderBytes(dir))
	hits := 0
	c.FromCache, hits = try.V2(compile(cache))
	if hits == 0 {
		c.SaveToCache, c.FromCache, c.CacheBytes = nil, nil, 0
	}
	return c, nil
}

// folderBytes is the size of the files of a folder.
func folderBytes(dir string) (n int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, fmt.Errorf("cache: %w", err)
		}
		n += info.Size()
	}
	return n, nil
}
