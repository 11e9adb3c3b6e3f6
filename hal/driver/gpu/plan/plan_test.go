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
		lifetimes(l, nil)
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

// TestOverlapSets: steps of a set need nothing of each other, come behind all that they need, and what one of a set
// uses shares no bytes with what others do.
func TestOverlapSets(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	beside := 0
	for range 200 {
		l := &step.List{}
		for i := range 1 + r.IntN(6) {
			l.Tensors = append(l.Tensors, &layout.Tensor{Region: layout.Arena, Elem: layout.F32, N: 1 + i, First: -1})
		}
		for i := range 2 + r.IntN(100) {
			s := step.Step{Op: i, Kernel: worker{i}}
			for range r.IntN(3) {
				s.Reads = append(s.Reads, l.Tensors[r.IntN(len(l.Tensors))])
			}
			out := l.Tensors[r.IntN(len(l.Tensors))] // a tensor may be written again
			if r.IntN(2) > 0 {
				out = &layout.Tensor{Region: layout.Arena, Elem: layout.F32, N: 1, First: -1}
				l.Tensors = append(l.Tensors, out)
			}
			s.Writes = append(s.Writes, out)
			l.Steps = append(l.Steps, s)
		}
		needs := needed(l.Steps)
		sets, compared := overlap(l, func(list []kernel.Work) (int64, int64) {
			return int64(len(list)), int64(len(list) + list[len(list)-1].Waves%3 - 1)
		})
		set, place := map[int]int{}, map[int]int{}
		for i := range l.Steps {
			set[l.Steps[i].Op], place[l.Steps[i].Op] = sets[i], i
			if i > 0 && sets[i] < sets[i-1] || compared[i].Chosen != (i > 0 && sets[i] == sets[i-1]) {
				t.Fatalf("step %d of set %d behind one of %d, %+v", i, sets[i], sets[max(i-1, 0)], compared[i])
			}
			if compared[i].Chosen {
				beside++
			}
		}
		for i := range needs {
			for _, j := range needs[i] {
				if set[j] >= set[i] || place[j] >= place[i] {
					t.Fatalf("step %d of set %d needs step %d of set %d", i, set[i], j, set[j])
				}
			}
		}
		lifetimes(l, sets)
		for i := range l.Steps {
			for _, x := range l.Steps[i].Writes {
				if x.First > sets[i] || x.Last < sets[i] {
					t.Fatalf("a tensor lives from %d to %d, set %d writes it", x.First, x.Last, sets[i])
				}
			}
		}
	}
	if beside < 1000 {
		t.Errorf("%d steps are beside others", beside)
	}
}

// worker is a kernel of some waves.
type worker struct{ waves int }

func (w worker) Pack(*kernel.Memory) kernel.Key { return fixed{1} }
func (w worker) Work() kernel.Work              { return kernel.Work{Waves: w.waves} }

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
