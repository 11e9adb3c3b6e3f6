package machine

import (
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// CacheVariable names the folder for measured costs; empty switches it off.
const CacheVariable = "NNSOC_CACHE"

// CacheFolder is a folder for data that can be computed again; "" for none.
func CacheFolder(name string) string {
	dir, set := os.LookupEnv(CacheVariable)
	if !set {
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(base, "nnsoc")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// Hash is short and changes with any key of a SoC.
func Hash(c *soc.Config) string {
	text := session.Fingerprint(c)
	return text[:min(16, len(text))]
}

// Build is short and changes with this program.
func Build() string { return cache.Build() }
