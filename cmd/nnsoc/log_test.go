package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestVerbosity: --quiet leaves stderr empty, --verbose and NNSOC_VLOG add
// events to it, each of its tags.
func TestVerbosity(t *testing.T) {
	for _, c := range []struct {
		flag, vlog   string
		want, absent []string
	}{
		{"", "", []string{"cpu: run ..."}, []string{"tag="}},
		{"-q", "", nil, []string{"run", "tag="}},
		{"-v", "", []string{"cpu: run ...", "DBG read", "tag=model", "DBG prepared", "tag=compilation", "DBG executed", "tag=execution", "cycles="}, nil},
		{"-q", "execution", []string{"tag=execution"}, []string{"cpu: run ...", "tag=model", "tag=compilation"}},
		{"", "all", []string{"tag=model", "tag=compilation", "tag=execution", "tag=manager", "tag=driver", "tag=cpuexe"}, nil},
		{"-q", "driver:manager", []string{"tag=driver", "tag=manager", "prepareModel: ", "execute: from "}, []string{"tag=cpuexe", "tag=model"}},
		{"-q", "model", []string{"digraph {", "n0 [shape=box"}, []string{"tag=execution"}},
	} {
		t.Setenv(vlog.Variable, c.vlog)
		var out, errs bytes.Buffer
		args := []string{"run", "--device", "cpu"}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		if code := execute(args, &out, &errs); code != cli.ExitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		for _, want := range c.want {
			require.Check(t, strings.Contains(errs.String(), want), "%s with %q: no %q in\n%s", c.flag, c.vlog, want, &errs)
		}
		for _, absent := range c.absent {
			require.Check(t, !strings.Contains(errs.String(), absent), "%s with %q: %q in\n%s", c.flag, c.vlog, absent, &errs)
		}
	}
	t.Setenv(vlog.Variable, "nope")
	var errs bytes.Buffer
	if code := execute([]string{"devices"}, &errs, &errs); code != cli.ExitUsage || !strings.Contains(errs.String(), `NNSOC_VLOG: no tag "nope"; there are model, compilation, execution, cpuexe, manager, driver, memory and all`) {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}
