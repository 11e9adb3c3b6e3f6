// Package browser shows pages to tests in a Chromium without a window, when `make browser` runs them.
package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Browser is a Chromium with a separate profile.
type Browser struct {
	t    testing.TB
	path string
	dir  string
}

// Variable requests the tests, when set to 1.
const Variable = "NNSOC_BROWSER"

// New returns a browser, or skips the test where none is installed and outside `make browser`.
func New(t testing.TB) *Browser {
	t.Helper()
	if os.Getenv(Variable) != "1" {
		t.Skip("skipped: needs " + Variable + "=1, which make browser sets")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return &Browser{t, path, t.TempDir()}
		}
	}
	t.Skip("skipped: needs chromium")
	return nil
}

// Dark makes a page one for a reader who prefers dark colours.
const Dark = "--force-dark-mode"

// DOM is the document of a file as HTML, after its scripts have run. Flags are Chromium's.
func (b *Browser) DOM(file string, flags ...string) string {
	b.t.Helper()
	return string(b.run(append(flags, "--virtual-time-budget=10000", "--dump-dom", "file://"+file)...))
}

// Screenshot writes a picture of a file, a PNG; size is WIDTH,HEIGHT in pixels.
func (b *Browser) Screenshot(file, picture, size string, flags ...string) {
	b.t.Helper()
	b.run(append(flags, "--hide-scrollbars", "--window-size="+size, "--screenshot="+picture, "file://"+file)...)
}

// run runs the browser without background downloads.
func (b *Browser) run(args ...string) []byte {
	b.t.Helper()
	flags := []string{"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--user-data-dir=" + filepath.Join(b.dir, "profile")}
	out, err := exec.Command(b.path, append(flags, args...)...).Output()
	if err != nil {
		b.t.Fatalf("%s: %v", b.path, err)
	}
	return out
}
