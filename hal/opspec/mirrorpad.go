package opspec

import (
	"github.com/nnsoc/nnsoc/hal/nn"
)

// Modes of MIRROR_PAD.
const (
	MirrorReflect   = 0 // the edge is not repeated
	MirrorSymmetric = 1 // the edge is repeated
)

// MirrorPad is a MIRROR_PAD: each dimension grows by a mirror image of its
// beginning and of its end.
type MirrorPad struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32 // shapes of input and output
	Before        []int    // per dimension
	Edge          int      // elements at the mirror that are not repeated: 0 or 1
}

// Source is the input coordinate that output coordinate i of dimension d
// shows.
func (p *MirrorPad) Source(d, i int) int {
	n := int(p.In[d])
	switch i -= p.Before[d]; {
	case i < 0:
		return p.Edge - 1 - i
	case i >= n:
		return 2*n - 1 - p.Edge - i
	}
	return i
}

// MirrorPad reads a MIRROR_PAD.
func (v View) MirrorPad(op *nn.Operation) (MirrorPad, error) {
	a, err := v.bindAs(op, nn.OpMirrorPad)
	if err != nil {
		return MirrorPad{}, err
	}
	p := MirrorPad{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if p.In, err = a.Dims("input"); err != nil {
		return p, err
	}
	mode, err := a.Int32("mode")
	if err != nil {
		return p, err
	}
	switch mode {
	case MirrorReflect:
		p.Edge = 1
	case MirrorSymmetric:
	default:
		return p, a.errorf("mode", "%d is not 0 or 1", mode)
	}
	d, err := a.Dims("paddings")
	if err != nil {
		return p, err
	}
	if len(p.In) == 0 || len(d) != 2 || int64(d[0]) != int64(len(p.In)) || d[1] != 2 {
		return p, a.errorf("paddings", "shape %v, [%d, 2] needed", d, len(p.In))
	}
	pads, err := a.Int32s("paddings")
	if err != nil {
		return p, err
	}
	for i, n := range p.In {
		before, after := int64(pads[2*i]), int64(pads[2*i+1])
		most := max(int64(n)-int64(p.Edge), 0)
		if before < 0 || after < 0 || before > most || after > most {
			return p, a.errorf("paddings", "%d and %d for dimension %d, at most %d can be mirrored", before, after, i, most)
		}
		total := int64(n) + before + after
		if total > nn.MaxElements {
			return p, a.errorf("paddings", "%d and %d for dimension %d are too many", before, after, i)
		}
		p.Before = append(p.Before, int(before))
		p.Dims = append(p.Dims, uint32(total))
	}
	return p, nil
}
