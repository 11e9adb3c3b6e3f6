package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestJSONLines: with --json=lines a long command prints its rows, each an object on a line, in an order that does not depend on
// its workers, and then the object of --json on one line.
func TestJSONLines(t *testing.T) {
	args := []string{"sensitivity", "mlperf_tiny_ad_quant", "--device", "npu", "--keys", "npu.clock.*_us", "--quiet"}
	text := printed(t, append([]string{"--json=lines", "--workers", "3"}, args...)...)
	require.Equal(t, text, printed(t, append([]string{"--json=lines", "--workers", "1"}, args...)...), "one worker (-three +one)")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	type row struct {
		Key string `json:"key"`
	}
	var whole struct {
		Model string `json:"model"`
		Keys  []row  `json:"keys"`
	}
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &whole))
	require.Same(t, "mlperf_tiny_ad_quant", whole.Model, "of the last line")
	left := map[string]bool{}
	for _, k := range whole.Keys {
		left[k.Key] = true
	}
	for _, l := range lines[:len(lines)-1] {
		var r row
		require.NoError(t, json.Unmarshal([]byte(l), &r))
		require.Check(t, left[r.Key], "row %s is not in the object, or twice", r.Key)
		delete(left, r.Key)
	}
	require.Check(t, len(whole.Keys) > 2 && len(left) == 0, "%d keys, no rows of %v", len(whole.Keys), left)

	var out, errs strings.Builder
	require.Same(t, 2, execute([]string{"devices", "--json=lines"}, &out, &errs), "exit code of a command without rows")
	require.Check(t, out.Len() == 0 && strings.Contains(errs.String(), "docs/JSON.md"), "%s%s", out.String(), errs.String())
}

// TestJSONLinesFields: docs/JSON.md has the field of each command whose elements --json=lines prints.
func TestJSONLinesFields(t *testing.T) {
	page, commands := string(require.File(t, filepath.Join("..", "..", jsonPage))), 0
	head, _, _ := strings.Cut(page, "\n## ")
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		field := cli.LinesField(c)
		if field == "" {
			return
		}
		commands++
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		section := regexp.MustCompile(`(?sm)^## (?:\w+ and )?` + name + `$(.*?)(?:^## |\z)`).FindString(page)
		require.Check(t, strings.Contains(section, "| `"+strings.TrimSuffix(field, "[]")+"` |"), "%s: no field %s:\n%.300s", name, field, section)
		require.Check(t, strings.Contains(head, "`"+name+"`") && strings.Contains(head, "`"+field+"`"), "%s prints %s as lines, which the head of %s does not say", name, field, jsonPage)
	})
	require.Same(t, 9, commands, "commands with rows")
}
