package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// CacheVariable names the folder for measured costs; empty switches it off.
const CacheVariable = "NNSOC_CACHE"

// CacheFolder is a folder for what can be computed again; "" for none.
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
func MachineText(m *Machine) string {
	text, err := json.Marshal(m.Config)
	if err != nil {
		return m.Config.SoC.Name // no file has values that JSON lacks
	}
	return string(text) + programHash()
}

// programHash is that of the running program's file.
func programHash() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
