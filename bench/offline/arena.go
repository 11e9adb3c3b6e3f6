package offline

import (
	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/nn"
)

// alignment of tensors in the arena.
const alignment = 16

// assignOffsets assigns offsets in the arena to the tensors that ethos-u operators read and write, by operand, below a size. A
// network of one operator leaves that to its driver, which lets them share memory with inner tensors: nil, unless
// something else reads the operator's inputs.
func assignOffsets(m *nn.Model, steps []step) (offsets map[uint32]int, size int) {
	if isSingleOperator(m, steps) {
		return nil, 0
	}
	var operands []uint32
	lives := map[uint32]*arena.Interval{}
	touch := func(x uint32, at int) {
		if l := lives[x]; l != nil {
			l.First, l.Last = min(l.First, at), max(l.Last, at)
		}
	}
	for _, s := range steps {
		for _, list := range [2][]uint32{s.part.Inputs, s.part.Outputs} {
			for _, x := range list {
				if lives[x] == nil {
					operands = append(operands, x)
					lives[x] = &arena.Interval{Bytes: int(m.Main.Operands[x].Bytes()), First: len(steps), Last: 0}
				}
			}
		}
	}
	for _, x := range m.Main.Inputs {
		touch(x, 0)
	}
	for at, s := range steps {
		for _, i := range s.operations {
			for _, list := range [2][]uint32{m.Main.Operations[i].Inputs, m.Main.Operations[i].Outputs} {
				for _, x := range list {
					touch(x, at)
				}
			}
		}
	}
	for _, x := range m.Main.Outputs {
		touch(x, len(steps))
	}
	list := make([]arena.Interval, len(operands))
	for i, x := range operands {
		list[i] = *lives[x]
	}
	at, end := arena.Place(list, arena.Options{Align: alignment, Limit: arena.Unlimited})
	offsets = map[uint32]int{}
	for i, x := range operands {
		offsets[x] = at[i]
	}
	return offsets, end
}

// isSingleOperator reports whether there is one ethos-u operator and nothing else reads its inputs.
func isSingleOperator(m *nn.Model, steps []step) bool {
	var one *step
	for i := range steps {
		if steps[i].device != onNPU {
			continue
		}
		if one != nil {
			return false
		}
		one = &steps[i]
	}
	read := map[uint32]bool{}
	for _, x := range one.part.Inputs {
		read[x] = true
	}
	for _, s := range steps {
		if s.device == onNPU {
			continue
		}
		for _, i := range s.operations {
			for _, x := range m.Main.Operations[i].Inputs {
				if read[x] {
					return false
				}
			}
		}
	}
	for _, x := range m.Main.Outputs {
		if read[x] {
			return false
		}
	}
	return true
}
