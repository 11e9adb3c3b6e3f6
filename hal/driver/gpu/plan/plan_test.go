package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/step"
)

// TestPlace: tensors that are needed at once share no bytes, with a guard behind each; inputs are
// there before the first step, outputs and words of faults behind the last.
func TestPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		l := &step.List{}
		tensor := func() *layout.Tensor {
			x := &layout.Tensor{Elem: layout.F32, N: 1 + r.IntN(500), First: -1}
			l.Tensors = append(l.Tensors, x)
			return x
		}
		in := tensor()
		l.Inputs = []*layout.Tensor{in, nil}
		all := []*layout.Tensor{in}
		for range 2 + r.IntN(12) {
			out := tensor()
			l.Steps = append(l.Steps, step.Step{Reads: []*layout.Tensor{all[r.IntN(len(all))]}, Writes: []*layout.Tensor{out}})
			all = append(all, out)
		}
		word := all[1+r.IntN(len(all)-1)]
		l.Outputs, l.Faults = all[len(all)-1:], []step.Fault{{Word: word}}
		lifetimes(l)
		const start = 512
		end, err := place(l.Tensors, start)
		if err != nil {
			t.Fatal(err)
		}
		if in.First != 0 || l.Outputs[0].Last != len(l.Steps) || word.Last != len(l.Steps) {
			t.Fatalf("input from %d, output to %d, fault to %d of %d steps", in.First, l.Outputs[0].Last, word.Last, len(l.Steps))
		}
		for i, x := range l.Tensors {
			if int(x.Off) < start || int(x.Off)+x.Bytes()+layout.Guard > end {
				t.Fatalf("tensor of %d bytes at %d of %d to %d", x.Bytes(), x.Off, start, end)
			}
			for _, y := range l.Tensors[:i] {
				together := x.First <= y.Last && y.First <= x.Last
				if together && int(x.Off) < int(y.Off)+y.Bytes()+layout.Guard && int(y.Off) < int(x.Off)+x.Bytes()+layout.Guard {
					t.Fatalf("steps %d to %d at %d, and %d to %d at %d", x.First, x.Last, x.Off, y.First, y.Last, y.Off)
				}
			}
		}
	}
}
