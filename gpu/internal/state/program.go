package state

import "errors"

// Program is a decoded kernel. It does not change once it is decoded.
type Program struct {
	Name         string
	WaveSize     int
	VGPRs        int
	ScratchBytes int    // per lane
	Mode         uint32 // bits of the float modes at the beginning that differ from DefaultMode
	Moded        bool   // it begins in other modes, or changes them
	Entry        int32

	Ops       []Op
	Deps      []Deps
	Offsets   []int32 // byte offset of each operation, and the end
	Index     []int32 // operation of each word, -1 inside an instruction
	Constants []Row   // each holds one value in every lane
	Packed    []Packed
	BatchLen  []uint8 // how many operations from each on can be one batch

	constantAt map[uint32]uint32
}

// ErrNoEnd is the fault of control that leaves the code.
var ErrNoEnd = errors.New("ran past the last instruction; s_endpgm is missing")

// IndexOf is the operation at a byte offset, -1 when no instruction begins there.
func (p *Program) IndexOf(off int64) int32 {
	if off < 0 || off%4 != 0 || off/4 >= int64(len(p.Index)) {
		return -1
	}
	return p.Index[off/4]
}

// Text is the instruction at operation i for messages.
func (p *Program) Text(i int32) string {
	if x := p.Ops[i].Details; x != nil && x.Form != nil {
		return x.Inst.Text(p.WaveSize == 64)
	}
	return "no instruction"
}

// Constant is the index of the row that holds v in every lane.
func (p *Program) Constant(v uint32) uint32 {
	if p.constantAt == nil {
		p.constantAt = map[uint32]uint32{}
	}
	i, ok := p.constantAt[v]
	if !ok {
		i = uint32(len(p.Constants))
		var r Row
		for l := range r {
			r[l] = v
		}
		p.Constants = append(p.Constants, r)
		p.constantAt[v] = i
	}
	return i
}
