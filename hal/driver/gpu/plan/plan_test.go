package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/step"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// TestPlace: tensors that are needed at once share no bytes, with a guard behind each; inputs are
// there before the first step, outputs and words of faults behind the last.
func TestPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		l := &step.List{}
		tensor := func() *layout.Tensor {
			x := &layout.Tensor{Region: layout.Arena, Elem: layout.F32, N: 1 + r.IntN(500), First: -1}
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

// fixed is a kernel of some instructions.
type fixed struct{ n int }

func (fixed) Name() string { return "fixed" }

func (k fixed) Emit(b *rdna.Builder) kernel.Grid {
	for i := range k.n {
		b.Emit(rdna2.V_MOV_B32_E32, b.V("x"), i)
	}
	return kernel.Flat(k.n)
}

// TestKernelsBounded: a kernel is kept once for an operation, and the kept instructions never
// exceed their bound.
func TestKernelsBounded(t *testing.T) {
	var kept Kernels
	first, err := kept.link(fixed{3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if l, err := kept.link(fixed{3}, 0); err != nil || l.code != first.code || l.grid != kernel.Flat(3) {
			t.Errorf("%+v, %v", l, err)
		}
		kept.put(linkedKey{fixed{3}, 0}, first)
	}
	if other, err := kept.link(fixed{3}, 1); err != nil || other.code == first.code || other.code.Source[0] != 1 {
		t.Errorf("%+v, %v: not the code of operation 1", other.code, err)
	}
	if n := 2 * len(first.code.Insts); kept.instructions != n {
		t.Errorf("%d instructions are counted, %d are kept", kept.instructions, n)
	}
	big := linked{code: &rdna2.Program{Insts: make([]rdna2.Inst, maxKeptInstructions/4+1)}}
	for i := range 20 {
		kept.put(linkedKey{fixed{1000 + i}, 0}, big)
		sum := 0
		for _, l := range kept.linked {
			sum += len(l.code.Insts)
		}
		if sum != kept.instructions || sum > maxKeptInstructions {
			t.Fatalf("%d instructions are kept, %d are counted, at most %d", sum, kept.instructions, maxKeptInstructions)
		}
	}
}
