package main

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestManuals: each command has a page with its flags and examples, and no text that a formatter takes for a command.
func TestManuals(t *testing.T) {
	known := map[string]bool{".TH": true, ".SH": true, ".PP": true, ".TP": true, ".B": true, ".BR": true, ".nf": true, ".fi": true}
	pages := 0
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		pages++
		text := manual(c)
		for _, line := range strings.Split(text, "\n") {
			word, _, _ := strings.Cut(line, " ")
			require.Check(t, !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "'") || known[word], "%s: line %q", c.CommandPath(), line)
		}
		require.Check(t, strings.Contains(text, ".SH SYNOPSIS\n") && strings.Count(text, ".nf\n") == strings.Count(text, ".fi\n"), "%s:\n%s", c.CommandPath(), text)
	})
	require.Check(t, pages > 50, "%d pages", pages)
	require.Same(t, `\&.a\-b\e`, roff(`.a-b\`))
	if groff, err := exec.LookPath("groff"); err == nil {
		cmd := exec.Command(groff, "-man", "-Tascii", "-ww")
		cmd.Stdin = strings.NewReader(printed(t, "man", "run"))
		out, err := cmd.CombinedOutput()
		require.Check(t, err == nil && strings.Contains(string(out), "run a network on each device") && !strings.Contains(string(out), "warning"), "%v: %s", err, out)
	}
}
