package machine

import (
	"os"
	"path/filepath"

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

// MachineText changes with the SoC file and with this program.
func MachineText(m *Machine) string { return configText(m.Config) + cache.Build() }

// Hash is short and changes with any key of a SoC.
func Hash(c *soc.Config) string {
	text := configText(c)
	return text[:min(16, len(text))]
}

// Build is short and changes with this program.
func Build() string { return cache.Build() }

func configText(c *soc.Config) string {
	text, err := cache.Fingerprint(c)
	if err != nil {
		return c.SoC.Name // no file has values that JSON lacks
	}
	return text
}
