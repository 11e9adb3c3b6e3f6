package main

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.org/x\n\ngo 1.24\n",
		"a.go":              "package x\n\nimport \"sync\"\n\nfunc f(m *sync.Mutex) int { m.Lock(); return g() }\n",
		"g_linux.go":        "package x\n\nfunc g() int { return 1 }\n",
		"g_darwin.go":       "package x\n\nfunc g() int\n",
		"g_windows.go":      "package x\n\nimport \"syscall\"\n\nfunc g() int { return syscall.Getrusage }\n",
		"x_test.go":         "package x_test\n\nimport (\n\t\"testing\"\n\n\t\"example.org/x\"\n)\n\nfunc TestF(*testing.T) { _ = x.F(nil) }\n",
		"export_test.go":    "package x\n\nvar F = f\n",
		"x_windows_test.go": "package x\n\nvar n int = f\n",
		"x_arm64_test.go":   "package x\n\nvar n int = 1 << 31 << 33\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c := checker{set: token.NewFileSet(), files: map[string]*ast.File{}}
	for platform, want := range map[string][]string{
		"linux/amd64":   nil,
		"linux/arm64":   {"x_arm64_test.go:3:13: cannot use"},
		"darwin/amd64":  {"g_darwin.go:3:1: g has no body"},
		"windows/amd64": {"g_windows.go:5:31: undefined: syscall.Getrusage", "x_windows_test.go:3:13: cannot use f"},
		"windows/z80":   {`platform "windows/z80" is not OS/ARCH`},
	} {
		err := c.check(platform, dir, []string{"./..."})
		require.Same(t, want == nil, (err == nil), platform, err)
		for _, w := range want {
			require.Check(t, err != nil && strings.Contains(err.Error(), w), "%s: %v, want %s", platform, err, w)
		}
	}
}
