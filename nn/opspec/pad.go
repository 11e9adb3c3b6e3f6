package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// padRows make a tensor larger around its edges.
var padRows = []Row{
	{Op: nn.OpPad, Since: V11, Types: floatQuant11, MaxRank: 4, Args: padArgs, Until12: zeroPoint0Until12, Work: padded, Forms: []Form{
		{V11, "input:T paddings:I32", "output:T"},
	}},
	{Op: nn.OpPadV2, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Args: padArgs, Work: padded, Forms: []Form{
		{V12, "input:T paddings:I32 pad_value:P", "output:T"},
	}},
	{Op: nn.OpMirrorPad, Since: FL7, Types: "F16@FL7 F32@FL7 I32@FL7 Q8@FL7 Q8S@FL7", SameQuant: true, Args: mirrorPadArgs,
		Work: moved,
		Forms: []Form{
			{FL7, "input:T paddings:I32 mode:int32", "output:T"},
		}},
}

// padded is the work of PAD: rows are copied whole, but one element at a time of signed
// bytes, as TensorFlow Lite has it (PadImageStyle has vector forms for float and unsigned
// bytes alone).
var padded = WorkRule{Float: 1, Quant: 1, Also: func(a *Args, w *Work) (err error) {
	if a.Key == nn.TensorQuant8AsymmSigned {
		w.Scalars, err = outputElements(a)
	}
	return err
}}

var (
	padArgs       = Arguments[Pad]{Read: readPad, Shapes: one(func(p *Pad) []uint32 { return p.Dims })}
	mirrorPadArgs = Arguments[MirrorPad]{Read: readMirrorPad, Shapes: one(func(p *MirrorPad) []uint32 { return p.Dims })}
)

// Pad is a PAD or PAD_V2: each dimension grows by elements before and after it, filled
// with Value, of PAD with zero (the zero point when quantized).
type Pad struct {
	Input, Value, Output uint32 // operand indexes; Value is None of PAD
	Type                 nn.OperandType
	In, Dims             []uint32 // shapes of input and output
	Before, After        []int    // per dimension
}

func readPad(a *Args) (Pad, error) {
	p := Pad{Input: a.In("input"), Value: a.In("pad_value"), Output: a.Op.Outputs[0], Type: a.Key}
	p.In = try.V(a.Dims("input"))
	if len(p.In) > 4 {
		return p, a.errorf("input", "rank %d, at most 4", len(p.In))
	}
	d := try.V(a.Dims("paddings"))
	if len(d) != 2 || int(d[0]) != len(p.In) || d[1] != 2 {
		return p, a.errorf("paddings", "shape %v, [%d, 2] needed", d, len(p.In))
	}
	pads := try.V(a.Int32s("paddings"))
	for i, n := range p.In {
		before, after := pads[2*i], pads[2*i+1]
		total := int64(n) + int64(before) + int64(after)
		if before < 0 || after < 0 || total > nn.MaxElements {
			return p, a.errorf("paddings", "%d and %d for dimension %d", before, after, i)
		}
		p.Before, p.After = append(p.Before, int(before)), append(p.After, int(after))
		p.Dims = append(p.Dims, uint32(total))
	}
	if nn.Elements(p.Dims) < 0 {
		return p, a.errorf("paddings", "result %v is too large", p.Dims)
	}
	return p, nil
}

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

func readMirrorPad(a *Args) (MirrorPad, error) {
	p := MirrorPad{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	p.In = try.V(a.Dims("input"))
	mode := try.V(a.Int32("mode"))
	switch mode {
	case MirrorReflect:
		p.Edge = 1
	case MirrorSymmetric:
	default:
		return p, a.errorf("mode", "%d is not 0 or 1", mode)
	}
	d := try.V(a.Dims("paddings"))
	if len(p.In) == 0 || len(d) != 2 || int64(d[0]) != int64(len(p.In)) || d[1] != 2 {
		return p, a.errorf("paddings", "shape %v, [%d, 2] needed", d, len(p.In))
	}
	pads := try.V(a.Int32s("paddings"))
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

// zeroPoint0Until12 demands that what a quantized operation pads with is 0.
func zeroPoint0Until12(a *Args) error {
	if z := a.quantOf(a.Op.Inputs[0]).ZeroPoint; a.Key == nn.TensorQuant8Asymm && z != 0 {
		return fmt.Errorf("%s: zero point %d of the input needs HAL 1.2", a.Op.Type, z)
	}
	return nil
}
