package gpu

import (
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// TestUntil: a run ends at the instant that its options say, after no more instructions than its waves can issue until then, of one
// wave and of many, and the core then runs the next program. One that ends before is not changed.
func TestUntil(t *testing.T) {
	c := newCore(t, nil)
	const until = 20 * sim.Microsecond
	cycles := sim.Clock{Hz: c.Spec().Hz}.Cycle(until)
	for _, text := range []string{"again:\ns_nop 0\ns_branch again\ns_endpgm", "again:\nv_add_f32 v1, v1, v1\nv_add_f32 v2, v2, v2\ns_branch again\ns_endpgm"} {
		endless := &Kernel{Name: "endless", Code: assemble(t, false, text), WaveSize: 32, VGPRs: 8}
		for _, waves := range []int{1, 64} {
			s, _ := space(t, 2048)
			d := Dispatch{Kernel: endless, Grid: [3]int{32 * waves}, Workgroup: [3]int{32}}
			_, err := c.Run(s, []Dispatch{d}, Options{Until: until, MaxInstructions: 4*cycles*int64(waves) + 1000})
			if late := (*sim.Late)(nil); !errors.As(err, &late) || late.At != until {
				t.Errorf("%d waves: %v", waves, err)
			}
		}
	}
	good := &Kernel{Name: "good", Code: assemble(t, false, "v_mov_b32 v1, v0\ns_endpgm"), WaveSize: 32, VGPRs: 8}
	var took [2]int64
	for i, end := range []sim.Time{0, sim.Second} {
		s, _ := space(t, 2048)
		rep, err := c.Run(s, []Dispatch{{Kernel: good, Grid: [3]int{4096}, Workgroup: [3]int{32}}}, Options{Until: end})
		require.NoError(t, err)
		took[i] = rep.Cycles
	}
	if took[0] != took[1] || took[0] == 0 {
		t.Errorf("%d cycles", took)
	}
}
