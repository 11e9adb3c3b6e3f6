package schedule

import (
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// TestRuns: the third operation reads the result of the first. It ends the run where it would issue before the result
// is ready, 2 issues after the first; otherwise the run continues to the end of the program.
func TestRuns(t *testing.T) {
	writes := func(r uint8, reads ...uint8) state.Deps {
		d := state.Deps{VDst: state.Span{Reg: r, N: 1}}
		for _, r := range reads {
			d.ReadV(state.Span{Reg: r, N: 1})
		}
		return d
	}
	p := &state.Program{
		Ops:     []state.Op{{}, {}, {}, {Unit: state.UnitControl}},
		Deps:    []state.Deps{writes(1), writes(2), writes(3, 1), {}},
		Offsets: []int32{0, 4, 60, 64, 68},
	}
	for _, c := range []struct {
		result, issue int
		end           [4]int32
	}{
		{2, 1, [4]int32{3, 3, 3, 3}},
		{3, 1, [4]int32{2, 3, 3, 3}},
		{4, 2, [4]int32{3, 3, 3, 3}},
		{5, 2, [4]int32{2, 3, 3, 3}},
	} {
		costs := Costs{LineShift: 6}
		for k := range costs.Result {
			costs.Result[k], costs.Issue[k] = c.result, c.issue
		}
		table := New(p, &costs)
		for i, q := range table.Timed {
			if q.End != c.end[i] || q.Cost != int32(i*c.issue) || q.Line != p.Offsets[i]>>6 {
				t.Errorf("result %d, issue %d: operation %d runs to %d at cost %d in line %d, want %d", c.result, c.issue, i, q.End, q.Cost, q.Line, c.end[i])
			}
		}
		if table.Latest != int64(c.result) {
			t.Errorf("the longest latency is %d, want %d", table.Latest, c.result)
		}
		if got := table.Touch[1].V[0]; got != 1<<1|1<<2|1<<3 {
			t.Errorf("the second operation and those after it touch %#x", got)
		}
	}
}
