package plan

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
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
		end := require.V(place(l.Tensors, start))(t)
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
			s := step.Step{Op: i, Work: kernel.Work{Waves: i}}
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

// TestNeeded: steps need, also indirectly, every step before them with which they share a tensor that one of the
// two writes; no step needs itself or a step with which it shares nothing.
func TestNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		tensors := make([]*layout.Tensor, 4)
		for i := range tensors {
			tensors[i] = &layout.Tensor{}
		}
		draw := func(n int) (list []*layout.Tensor) {
			for range n {
				list = append(list, tensors[r.IntN(len(tensors))])
			}
			return list
		}
		steps := make([]step.Step, 8)
		for i := range steps {
			steps[i] = step.Step{Reads: draw(r.IntN(3)), Writes: draw(1 + r.IntN(2))}
		}
		conflict := func(a, b *step.Step) bool {
			in := func(x []*layout.Tensor) func(*layout.Tensor) bool {
				return func(y *layout.Tensor) bool { return slices.Contains(x, y) }
			}
			return slices.ContainsFunc(a.Writes, in(b.Reads)) || slices.ContainsFunc(b.Writes, in(a.Reads)) || slices.ContainsFunc(b.Writes, in(a.Writes))
		}
		needs := needed(steps)
		var got, want [8][8]bool
		for i := range steps {
			for _, j := range needs[i] {
				if j >= i || !conflict(&steps[i], &steps[j]) {
					t.Fatalf("step %d needs %d", i, j)
				}
				got[i][j] = true
			}
			for j := range i {
				want[i][j] = conflict(&steps[i], &steps[j])
			}
			for _, m := range [2]*[8][8]bool{&got, &want} {
				for j := range i {
					for k := range j {
						m[i][k] = m[i][k] || m[i][j] && m[j][k]
					}
				}
			}
		}
		if got != want {
			t.Fatalf("needs %v", needs)
		}
	}
}

// TestOverlapBounds: a set has at most so many launches, and none from too far behind its first.
func TestOverlapBounds(t *testing.T) {
	always := func(list []kernel.Work) (int64, int64) { return 1, 2 }
	of := func(n int) (l *step.List) {
		l = &step.List{}
		for range n {
			l.Steps = append(l.Steps, step.Step{Kernel: worker{1}, Writes: []*layout.Tensor{{}}})
		}
		return l
	}
	sets, _ := overlap(of(3*maxConcurrent+1), always)
	for i, s := range sets {
		if s != i/maxConcurrent*maxConcurrent {
			t.Fatalf("sets %v of steps that need nothing of each other", sets)
		}
	}
	for _, distance := range []int{lookAhead - 1, lookAhead} {
		l := of(distance + 1)
		for i := 1; i < distance; i++ { // all between need the first
			l.Steps[i].Reads = l.Steps[0].Writes
		}
		if sets, _ := overlap(l, always); (sets[1] == sets[0]) != (distance < lookAhead) {
			t.Errorf("a step %d behind the first is in set %d", distance, sets[1])
		}
	}
	whole := &layout.Tensor{Elem: layout.I8, N: layout.MaxRegion - 256}
	if end, err := place([]*layout.Tensor{whole}, 0); err != nil || end != layout.MaxRegion {
		t.Errorf("a tensor of a whole region ends at %d, %v", end, err)
	}
	if _, err := place([]*layout.Tensor{whole}, 256); err == nil {
		t.Error("a tensor that a region does not hold is placed")
	}
}

// TestNew: launches are the steps in their order, beside those of their set; their code is contiguous, and each is
// dispatched with its grid.
func TestNew(t *testing.T) {
	for _, estimate := range []Estimator{nil, func(list []kernel.Work) (int64, int64) { return 1, 2 }} {
		l := &step.List{}
		tensor := func() []*layout.Tensor {
			x := &layout.Tensor{Region: layout.Arena, Elem: layout.F32, N: 64, First: -1}
			l.Tensors = append(l.Tensors, x)
			return []*layout.Tensor{x}
		}
		l.Inputs = tensor()
		a, b, c := tensor(), tensor(), tensor()
		l.Outputs, l.Counts = c, b
		l.Consts.Bytes([]byte{1, 2, 3})
		l.Pages.Need(5, 1)
		l.Steps = []step.Step{
			{Op: 4, Kernel: worker{70}, Reads: l.Inputs, Writes: a}, {Op: 5, Kernel: worker{3}, Reads: l.Inputs, Writes: b},
			{Op: 6, Kernel: worker{200}, Reads: append(slices.Clone(a), b...), Writes: c},
		}
		var kernels Kernels
		p := require.V(New(l, &kernels, estimate))(t)
		if p.Arena < len(p.Pages)+3*256 || !slices.Equal(p.Pages, l.Pages.Bytes()) || len(p.Consts) != 3+layout.Guard || p.Outputs[0] != c[0] || p.Counts[0] != b[0] || b[0].Last != 3 {
			t.Errorf("arena of %d, pages of %d, constants of %d bytes", p.Arena, len(p.Pages), len(p.Consts))
		}
		end := uint64(layout.CodeBase)
		for i := range p.Launches {
			x, d := &p.Launches[i], &p.Dispatches[i]
			waves := []int{70, 3, 200}[i]
			beside := estimate != nil && i == 1
			if x.Op != 4+i || x.Work.Waves != waves || x.Concurrent != beside || x.Compared.Chosen != beside || d.Concurrent != beside || d.Region != x.Op {
				t.Errorf("launch %d: %+v, %+v", i, x, d)
			}
			if d.Grid != [3]int{1, 1, 1} || d.Workgroup != [3]int{kernel.FlatGroup, 1, 1} || d.Kernel.WaveSize != 32 || !slices.Equal(d.Kernel.Code, x.Code.Code) {
				t.Errorf("dispatch %d: %+v of %+v", i, d, d.Kernel)
			}
			if d.Kernel.Base%256 != 0 || d.Kernel.Base < end || d.Kernel.Base >= end+256 || i == 0 && d.Kernel.Base != end {
				t.Errorf("code %d is at %#x, %#x is free", i, d.Kernel.Base, end)
			}
			end = d.Kernel.Base + uint64(len(d.Kernel.Code))
			if len(d.Kernarg) != 16 || binary.LittleEndian.Uint64(d.Kernarg) != layout.ArenaBase || binary.LittleEndian.Uint64(d.Kernarg[8:]) != layout.ConstsBase {
				t.Errorf("arguments %x", d.Kernarg)
			}
			if cuts := x.Cuts; len(cuts) != 1 || cuts[0].Name != "cut" {
				t.Errorf("cuts %v", cuts)
			}
		}
	}
}

// worker is a kernel of some waves.
type worker struct{ waves int }

func (w worker) Cuts() []kernel.Cut { return []kernel.Cut{{Name: "cut"}} }
func (w worker) Select(string) bool { return false }

func (w worker) Emit(b *rdna.Builder) kernel.Grid {
	g := fixed{1}.Emit(b)
	g.Busy = w.waves
	return g
}

// fixed is a kernel of some instructions.
type fixed struct{ n int }

func (k fixed) Emit(b *rdna.Builder) kernel.Grid {
	for i := range k.n {
		b.Emit(rdna2.V_MOV_B32_E32, b.V("x"), i)
	}
	return kernel.Flat("fixed", k.n)
}

// TestKernelsBounded: a kernel is kept once for an operation, and the kept instructions never
// exceed their bound.
func TestKernelsBounded(t *testing.T) {
	var kept Kernels
	first := require.V(kept.link(fixed{3}, 0))(t)
	for range 3 {
		if l, err := kept.link(fixed{3}, 0); err != nil || l.code != first.code || l.grid != kernel.Flat("fixed", 3) {
			t.Errorf("%+v, %v", l, err)
		}
		kept.put(linkedKey{kernel.Identity(fixed{3}), 0}, first)
	}
	if other, err := kept.link(fixed{3}, 1); err != nil || other.code == first.code || other.code.Source[0] != 1 {
		t.Errorf("%+v, %v: not the code of operation 1", other.code, err)
	}
	if n := 2 * len(first.code.Insts); kept.instructions != n {
		t.Errorf("%d instructions are counted, %d are kept", kept.instructions, n)
	}
	big := linked{code: &rdna2.Program{Insts: make([]rdna2.Inst, maxKeptInstructions/4+1)}}
	for i := range 20 {
		kept.put(linkedKey{kernel.Identity(fixed{1000 + i}), 0}, big)
		sum := 0
		for _, l := range kept.linked {
			sum += len(l.code.Insts)
		}
		if sum != kept.instructions || sum > maxKeptInstructions {
			t.Fatalf("%d instructions are kept, %d are counted, at most %d", sum, kept.instructions, maxKeptInstructions)
		}
	}
}
