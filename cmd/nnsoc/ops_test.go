package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/inspect"
	"github.com/nnsoc/nnsoc/internal/require"
)

// operationsDoc reads the rows of docs/OPERATIONS.md, each split into cells
// with the operation's name filled in.
func operationsDoc(t *testing.T) (text string, rows [][]string) {
	t.Helper()
	b := require.File(t, filepath.Join("..", "..", "docs", "OPERATIONS.md"))
	name := ""
	table, _, _ := strings.Cut(string(b), "\n## ") // the rules of devices follow
	for _, line := range strings.Split(table, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| operation") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] != "" {
			name = cells[0]
		}
		cells[0] = name
		rows = append(rows, cells)
	}
	return string(b), rows
}

// TestOperationsRows compares the document with the table of operations; it
// needs no corpus.
func TestOperationsRows(t *testing.T) {
	_, rows := operationsDoc(t)
	var out, log bytes.Buffer
	if code := execute([]string{"ops", "--json"}, &out, &log); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, &log)
	}
	var r inspect.OpsReport
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Check(t, len(r.Rows) == len(rows), "docs/OPERATIONS.md has %d rows, the table %d; run make docs", len(rows), len(r.Rows))
	for i, want := range r.Rows[:min(len(rows), len(r.Rows))] {
		got := rows[i]
		if len(got) < 3 || got[0] != want.Operation || got[1] != inspect.ShortType(want.Type) || got[2] != want.Since {
			t.Errorf("docs/OPERATIONS.md row %d is %v, want %s %s %s; run make docs", i, got, want.Operation, want.Type, want.Since)
		}
	}
}

// TestOperationsDoc compares the whole document with a run of the corpus on
// every device.
func TestOperationsDoc(t *testing.T) {
	require.AllTests(t)
	text, _ := operationsDoc(t)
	var out, log bytes.Buffer
	if code := execute([]string{"ops", "nnapi", "--markdown"}, &out, &log); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, &log)
	}
	want, got := strings.Split(out.String(), "\n"), strings.Split(text, "\n")
	require.Check(t, len(want) == len(got), "docs/OPERATIONS.md has %d lines, %d needed; run make docs", len(got), len(want))
	for i := range min(len(want), len(got)) {
		require.Check(t, want[i] == got[i], "docs/OPERATIONS.md:%d is\n  %s\nwant\n  %s\nrun make docs", i+1, got[i], want[i])
	}
}
