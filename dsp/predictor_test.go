package dsp

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestPredictor holds the slots that jumps lose on the way through programs of known directions and targets.
func TestPredictor(t *testing.T) {
	const passes = 64
	// Every pass of a hardware loop runs the body; r1 counts the passes from 0.
	loop := func(body string) string {
		return fmt.Sprintf("\tr1 = #0\n\t{ loop0(top,#%d) }\ntop:\n%s\n\t{ r1 = add(r1,#1) }\n\t{ nop } :endloop0\n\tjumpr r31\n", passes, body)
	}
	skip := func(condition, hint string) string {
		return "\tp0 = " + condition + "\n\tif (p0) jump:" + hint + " on\n\tnop\non:\n\tnop"
	}
	for _, c := range []struct {
		name        string
		text        string
		late, wrong int // jumps: to a target not held; mispredicted. The return is one of these.
	}{
		{"never taken, hinted so", loop(skip("cmp.gt(r1,#100)", "nt")), 0, 1},
		{"never taken, hinted taken", loop(skip("cmp.gt(r1,#100)", "t")), 0, 2},
		{"always taken, hinted so", loop(skip("cmp.gt(r1,#-1)", "t")), 1, 1},
		{"always taken, hinted not", loop(skip("cmp.gt(r1,#-1)", "nt")), 0, 2},
		{"taken from the middle on", loop(skip("cmp.gt(r1,#31)", "nt")), 0, 3}, // two passes teach the counter
		{"not taken once", loop("\tp0 = !cmp.eq(r1,#40)\n\tif (p0) jump:t on\n\tnop\non:\n\tnop"), 1, 2},
		{"alternately", loop(skip("tstbit(r1,#0)", "nt")), 0, 1 + passes/2}, // rarely and never: always predicted not taken
		{"jump to one place", loop("\t{ jump on }\n\tnop\non:\n\tnop"), 1, 1},
		{"call and return", loop("\t{ r7 = r31 ; jump over }\nf:\n\tjumpr r31\nover:\n\tcall f\n\t{ r31 = r7 }"), 2, 2},
		{"returns to two places in turn", loop("\t{ r7 = r31 ; jump over }\nf:\n\tjumpr r31\nover:\n\tcall f\n\tcall f\n\t{ r31 = r7 }"), 3, 1 + 2*passes},
	} {
		s := microSpec(t, "pixel4")
		core := require.V(newCold(s))(t)
		rep := require.V(core.Run(assemble(t, codeBase, c.text), new(mem.Space), []Job{{Entry: codeBase, Threads: 1, Name: c.name}}, Options{}))(t, c.name)
		if got, want := rep.Stalls[sim.StallBranch], int64(s.IssueInterval*(c.late*s.BranchSlots+c.wrong*s.MispredictSlots)); got != want {
			t.Errorf("%s: jumps lose %d cycles, want %d", c.name, got, want)
		}
	}
}

// TestBranchTargets: jumps whose addresses share an entry of the branch target buffer displace each other.
func TestBranchTargets(t *testing.T) {
	lost := func(entries int) int64 {
		s := microSpec(t, "pixel4")
		s.BTBEntries = entries
		core := require.V(newCold(s))(t)
		p := assemble(t, codeBase, "\t{ loop0(top,#50) }\ntop:\n\tjump a\na:\n\tjump b\nb:\n\tnop\n\t{ nop } :endloop0\n\tjumpr r31\n")
		rep := require.V(core.Run(p, new(mem.Space), []Job{{Entry: codeBase, Threads: 1}}, Options{}))(t)
		return (rep.Stalls[sim.StallBranch] - int64(s.IssueInterval*s.MispredictSlots)) / int64(s.IssueInterval*s.BranchSlots)
	}
	if one, many := lost(1), lost(256); one != 100 || many != 2 {
		t.Errorf("%d and %d jumps to targets not held, want 100 and 2", one, many)
	}
}
