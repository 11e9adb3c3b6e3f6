package soc

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWithoutTables: a variant leaves out tables, lists and elements of lists, with all below them.
func TestWithoutTables(t *testing.T) {
	const text = "[a]\nx = 1\n[[b.c]]\nx = 2\n[b.c.d]\nx = 3\n[[b.c]]\nx = 4\n[b.c.d]\nx = 5\n[bc]\nx = 6\n"
	for key, want := range map[string]string{
		"a":        "[[b.c]]\nx = 2\n[b.c.d]\nx = 3\n[[b.c]]\nx = 4\n[b.c.d]\nx = 5\n[bc]\nx = 6\n",
		"b":        "[a]\nx = 1\n[bc]\nx = 6\n",
		"b.c[0]":   "[a]\nx = 1\n[[b.c]]\nx = 4\n[b.c.d]\nx = 5\n[bc]\nx = 6\n",
		"b.c[1].d": "[a]\nx = 1\n[[b.c]]\nx = 2\n[b.c.d]\nx = 3\n[[b.c]]\nx = 4\n[bc]\nx = 6\n",
	} {
		require.Same(t, want, withoutTable(text, key), key)
	}
}
