package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
)

// BenchmarkPrepare compares compiling MobileNet v1 with preparing it from a cache on each device that has one: the
// second must cost a tenth of the first.
func BenchmarkPrepare(b *testing.B) {
	for _, d := range open(b) {
		if n, _ := d.NumberOfCacheFilesNeeded(); n == 0 {
			continue
		}
		name := "mobilenet_v1_1.0_224_quant"
		if d.Name() == "gpu" {
			name = strings.TrimSuffix(name, "quant") + "float"
		}
		m := zoo.MustBuild(name)
		dir := b.TempDir()
		open := func(name string) []hal.CacheHandle {
			f := require.V(os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600))(b)
			b.Cleanup(func() { f.Close() })
			return []hal.CacheHandle{{f}}
		}
		c := hal.Cache{Model: open("model"), Data: open("data")}
		b.Run(d.Name()+"/compile", func(b *testing.B) {
			for b.Loop() {
				require.V(d.PrepareModel(m, hal.PrepareOptions{Cache: hal.Cache{}}))(b)
			}
		})
		require.V(d.PrepareModel(m, hal.PrepareOptions{Cache: c}))(b)
		b.Run(d.Name()+"/cache", func(b *testing.B) {
			for b.Loop() {
				require.V(d.PrepareModelFromCache(nil, c))(b)
			}
		})
	}
}
