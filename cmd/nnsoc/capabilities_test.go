package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnCapabilities: the devices of a SoC file that is no preset are measured
// when they are first asked, and known afterwards; those of a preset are known.
func TestOwnCapabilities(t *testing.T) {
	t.Setenv(cacheVariable, t.TempDir())
	text, err := os.ReadFile(filepath.Join("..", "..", "sim", "soc", "ethos-u55-32.toml"))
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(own, []byte(strings.Replace(string(text), `name = "ethos-u55-32"`, `name = "own"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	code, first, errs := command(nil, "devices", "--soc", own)
	if code != 0 || !strings.Contains(errs, "npu: CONV_2D 3x3/2 224x224x3 to 32") {
		t.Errorf("exit code %d, nothing was measured\n%s", code, errs)
	}
	code, second, errs := command(nil, "devices", "--soc", own)
	if code != 0 || errs != "" || second != first {
		t.Errorf("exit code %d, measured again\n%s%s", code, errs, second)
	}
	_, preset, errs := command(nil, "devices", "--soc", "ethos-u55-32")
	figures := func(s string) string { return s[strings.Index(s, "device "):] }
	if errs != "" || figures(preset) != figures(first) {
		t.Errorf("the preset reports\n%s\nthe same machine by another name\n%s%s", preset, first, errs)
	}
}
