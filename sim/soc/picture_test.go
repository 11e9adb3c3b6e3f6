package soc

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPicture: the picture of every preset has straight edges and each engine of it, and docs/SoC.md has that of the default.
func TestPicture(t *testing.T) {
	for _, name := range Presets() {
		c := require.V(Load(name))(t)
		text := Picture(c)
		for _, l := range strings.Split(text, "\n")[2:] {
			n := utf8.RuneCountInString(l)
			require.Check(t, n <= pictureWidth, "%s: %d letters: %s", name, n, l)
			if strings.HasPrefix(l, "| ") && !strings.Contains(strings.Trim(l, "|"), "|") && n != boxWidth-1 && n != pictureWidth {
				t.Errorf("%s: a line of %d letters: %s", name, n, l)
			}
		}
		for title, there := range map[string]bool{"| CPU ": c.CPU != nil, "| GPU ": c.GPU != nil, "| DSP ": c.DSP != nil, "| NPU ": c.NPU != nil, "| system-level cache": c.SystemCache != nil, "| DRAM: ": true} {
			require.Same(t, there, strings.Contains(text, title), name, title)
		}
	}
	page := string(require.V(os.ReadFile("../../docs/SoC.md"))(t))
	want := "```\n" + Picture(require.V(Load("pixel4"))(t)) + "```\n"
	require.Check(t, strings.Contains(page, want), "docs/SoC.md does not have:\n%s", want)
}
