package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// build writes a program that prints a report of bench budget.
func build(t *testing.T, name, rows string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("skipped: needs sh")
	}
	p := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(p, fmt.Appendf(nil, "#!/bin/sh\necho '{\"rows\":[%s]}'\n", rows), 0o755))
	return p
}

// TestReport: a planted regression is shown and is exit code 1, without it is 0.
func TestReport(t *testing.T) {
	base := build(t, "base", `{"workload":"npu: x","user_ms":10},{"workload":"dsp: y","user_ms":5}`)
	slow := build(t, "new", `{"workload":"npu: x","user_ms":12.1},{"workload":"dsp: y","user_ms":5.5}`)
	for _, c := range []struct {
		build string
		code  int
	}{{slow, 1}, {base, 0}} {
		changes := require.V(measure([]string{base, c.build}, 3, "", io.Discard))(t)
		var out strings.Builder
		if code := report(&out, "HEAD~1", changes); code != c.code {
			t.Errorf("exit code %d, want %d:\n%s", code, c.code, out.String())
		}
		if strings.Count(out.String(), "SLOWER") != c.code || c.code == 1 && !strings.Contains(out.String(), "1.21") {
			t.Error(out.String())
		}
	}
	broken := filepath.Join(t.TempDir(), "base")
	require.Fails(t, require.Err(measure([]string{broken, base}, 1, "", io.Discard)), "a build that does not start is measured")
	for _, args := range [][]string{{}, {"-base", "x", "-rounds", "0"}, {"-base", "x", "more"}, {"-base", "no-such-commit"}, {"-nosuch"}} {
		require.Same(t, 2, run(args, io.Discard, io.Discard), args, "exit code")
	}
}
