package opspec

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// reshapeRows move no element: another shape of the same bytes, one value everywhere, a rank.
var reshapeRows = []Row{
	{Op: nn.OpReshape, Since: V10, Types: floatQuant10 + " I32@FL6", SameQuant: true, MaxRank: 4, Args: copyArgs, Work: same, Forms: []Form{
		{V10, "input:T shape:I32", "output:T"},
	}},
	{Op: nn.OpSqueeze, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Args: copyArgs, Work: same, Forms: []Form{
		{V11, "input:T dims:I32?", "output:T"},
	}},
	{Op: nn.OpExpandDims, Since: V12, Types: number12, SameQuant: true, Args: copyArgs, Work: same, Forms: []Form{
		{V12, "input:T axis:int32", "output:T"},
	}},
	{Op: nn.OpFill, Since: V13, Types: "F16@1.3 F32@1.3 I32@1.3", Key: "out0", Args: fillArgs, Work: same, Forms: []Form{
		{V13, "dims:I32 value:E", "output:T"},
	}},
	{Op: nn.OpRank, Since: V13, Types: "F16@1.3 F32@1.3 I32@1.3 Q8@1.3 Q16S@1.3 B8@1.3 Q8CH@1.3 Q16@1.3 Q8SYM@1.3 Q8S@1.3", Args: rankArgs,
		Work: WorkRule{Float: 1, Quant: 1, Rows: true},
		Forms: []Form{
			{V13, "input:T", "output:int32"},
		}},
}

var (
	copyArgs = Arguments[Copy]{Read: readCopy, Shapes: one(func(c *Copy) []uint32 { return c.Dims })}
	fillArgs = Arguments[Fill]{Read: readFill, Shapes: one(func(f *Fill) []uint32 { return f.Dims })}
	rankArgs = Arguments[int]{Read: readRank, Shapes: one(func(*int) []uint32 { return nil })}
)

// Copy is an operation that moves no element: RESHAPE, SQUEEZE or EXPAND_DIMS.
type Copy struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	Dims          []uint32 // of the output
}

func readCopy(a *Args) (Copy, error) {
	c := Copy{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	in := try.V(a.Dims("input"))
	if r := a.Row.MaxRank; r > 0 && len(in) > r {
		return c, a.errorf("input", "rank %d, at most %d", len(in), r)
	}
	switch a.Op.Type {
	case nn.OpReshape:
		c.Dims = try.V(a.reshaped(in))
	case nn.OpSqueeze:
		c.Dims = try.V(a.squeezed(in))
	default:
		c.Dims = try.V(a.expanded(in))
	}
	return c, nil
}

func (a *Args) reshaped(in []uint32) ([]uint32, error) {
	shape := try.V(a.Int32s("shape"))
	n, known, stretch := nn.Elements(in), int64(1), -1
	out := make([]uint32, len(shape))
	for i, s := range shape {
		switch {
		case s == -1 && stretch < 0:
			stretch = i
			continue
		case s < 0:
			return nil, a.errorf("shape", "%v has a second -1 or a negative entry", shape)
		case s != 0 && known > nn.MaxElements/int64(s):
			return nil, a.errorf("shape", "%v is too large", shape)
		}
		known *= int64(s)
		out[i] = uint32(s)
	}
	if stretch >= 0 {
		if known == 0 || n%known != 0 {
			return nil, a.errorf("shape", "%v cannot hold the input's %d elements", shape, n)
		}
		out[stretch] = uint32(n / known)
		known = n
	}
	if known != n {
		return nil, a.errorf("shape", "%v has %d elements, the input %d", shape, known, n)
	}
	return out, nil
}

func (a *Args) squeezed(in []uint32) ([]uint32, error) {
	drop := make([]bool, len(in))
	if !a.Has("dims") {
		for i, d := range in {
			drop[i] = d == 1
		}
	} else {
		dims := try.V(a.Int32s("dims"))
		for _, d := range dims {
			i, err := axis(d, len(in))
			if err != nil {
				return nil, a.errorf("dims", "%w", err)
			}
			if in[i] != 1 {
				return nil, a.errorf("dims", "dimension %d is %d, 1 needed", i, in[i])
			}
			drop[i] = true
		}
	}
	out := []uint32{}
	for i, d := range in {
		if !drop[i] {
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		out = append(out, 1)
	}
	return out, nil
}

func (a *Args) expanded(in []uint32) ([]uint32, error) {
	v := try.V(a.Int32("axis"))
	at, err := axis(v, len(in)+1)
	if err != nil {
		return nil, a.errorf("axis", "%w", err)
	}
	out := append([]uint32(nil), in[:at]...)
	return append(append(out, 1), in[at:]...), nil
}

// Fill is a FILL with one value. The shape is known when its tensor is.
type Fill struct {
	Output uint32 // operand index
	Value  uint32 // operand index of the scalar
	Dims   []uint32
}

func readFill(a *Args) (Fill, error) {
	f := Fill{Output: a.Op.Outputs[0], Value: a.In("value")}
	dims := try.V(a.Int32s("dims"))
	if len(dims) > 32 {
		return f, a.errorf("dims", "rank %d", len(dims))
	}
	f.Dims = []uint32{}
	for _, d := range dims {
		if d < 0 {
			return f, a.errorf("dims", "%v has a negative entry", dims)
		}
		f.Dims = append(f.Dims, uint32(d))
	}
	return f, nil
}

func readRank(a *Args) (int, error) {
	d := a.View.Operands[a.In("input")].Dimensions
	if len(d) == 0 && !a.View.Bound {
		return 0, fmt.Errorf("RANK: input: operand %d: %w", a.In("input"), ErrUnknown)
	}
	return len(d), nil
}

// concatRows join, cut and repeat tensors.
var concatRows = []Row{
	{Op: nn.OpConcatenation, Since: V10, Types: floatQuant10, MaxRank: 4, Args: concatArgs, Until12: oneQuantUntil12, Work: joined, Forms: []Form{
		{V10, "inputs:T... axis:int32", "output:T"},
	}},
	{Op: nn.OpPack, Since: FL6, Types: "F16@FL6 F32@FL6 I32@FL6 Q8@FL6 Q8S@FL6", Key: "out0", SameQuant: true, Args: packArgs,
		Work: same,
		Forms: []Form{
			{FL6, "axis:int32 inputs:T...", "output:T"},
		}},
	{Op: nn.OpSplit, Since: V12, Types: number12, SameQuant: true, Args: splitArgs, Work: same, Forms: []Form{
		{V12, "input:T axis:int32 count:int32", "outputs:T..."},
	}},
	{Op: nn.OpTile, Since: V12, Types: number12, SameQuant: true, Args: tileArgs, Work: same, Forms: []Form{
		{V12, "input:T multiples:I32", "output:T"},
	}},
}

var (
	concatArgs = Arguments[Concat]{Read: readConcat, Shapes: one(func(c *Concat) []uint32 { return c.Dims })}
	packArgs   = Arguments[Concat]{Read: readPack, Shapes: concatArgs.Shapes}
	tileArgs   = Arguments[Tile]{Read: readTile, Shapes: one(func(t *Tile) []uint32 { return t.Dims })}
	splitArgs  = Arguments[Split]{Read: readSplit, Shapes: func(s *Split) [][]uint32 { return slices.Repeat([][]uint32{s.Dims}, len(s.Outputs)) }}
)

// joined is the work of CONCATENATION: inputs of another scale than the output's are
// requantized one element at a time.
var joined = WorkRule{Float: 1, Quant: 1, Also: func(a *Args, w *Work) {
	to := &a.View.Operands[a.Op.Outputs[0]]
	for _, i := range a.Variadic() {
		from := &a.View.Operands[i]
		if !isQuantized(a.Key) || from.Scale == to.Scale && from.ZeroPoint == to.ZeroPoint {
			continue
		}
		w.Scalars += scalarsRescale * try.V(a.View.elements(i))
	}
}}

// Concat is a CONCATENATION, seen as rows: for each of Outer, Sizes[i]
// contiguous elements of each input follow each other.
type Concat struct {
	Inputs []uint32 // operand indexes
	Output uint32
	Type   nn.OperandType
	Dims   []uint32 // of the output
	Axis   int
	Outer  int
	Sizes  []int // contiguous elements per input and outer index
}

func readConcat(a *Args) (Concat, error) {
	c := Concat{Inputs: a.Variadic(), Output: a.Op.Outputs[0], Type: a.Key}
	ax := try.V(a.Int32("axis"))
	sum := int64(0)
	for i, x := range c.Inputs {
		d, err := a.View.Dims(x)
		if err != nil {
			return c, a.errorf("inputs", "%w", err)
		}
		if i == 0 {
			if len(d) > 4 {
				return c, a.errorf("inputs", "rank %d, at most 4", len(d))
			}
			if c.Axis, err = axis(ax, len(d)); err != nil {
				return c, a.errorf("axis", "%w", err)
			}
			c.Dims = append([]uint32(nil), d...)
			c.Outer = int(nn.Elements(d[:c.Axis]))
		}
		if len(d) != len(c.Dims) {
			return c, a.errorf("inputs", "input %d has rank %d, input 0 has %d", i, len(d), len(c.Dims))
		}
		for k := range d {
			if k != c.Axis && d[k] != c.Dims[k] {
				return c, a.errorf("inputs", "input %d has shape %v, input 0 differs in dimension %d", i, d, k)
			}
		}
		sum += int64(d[c.Axis])
		c.Sizes = append(c.Sizes, int(nn.Elements(d[c.Axis:])))
	}
	if sum > nn.MaxElements {
		return c, a.errorf("inputs", "%d along axis %d are too many", sum, c.Axis)
	}
	c.Dims[c.Axis] = uint32(sum)
	if nn.Elements(c.Dims) < 0 {
		return c, a.errorf("inputs", "result %v is too large", c.Dims)
	}
	return c, nil
}

// readPack reads a PACK: inputs of one shape, joined along a new axis. It is a
// Concat whose inputs have size 1 along that axis.
func readPack(a *Args) (Concat, error) {
	c := Concat{Inputs: a.Variadic(), Output: a.Op.Outputs[0], Type: a.Key}
	x := try.V(a.Int32("axis"))
	var first []uint32
	for i, in := range c.Inputs {
		d, err := a.View.Dims(in)
		if err != nil {
			return c, a.errorf("inputs", "%w", err)
		}
		if i == 0 {
			first = d
			if c.Axis, err = frontAxis(x, len(d)+1); err != nil {
				return c, a.errorf("axis", "%w", err)
			}
		}
		if !slices.Equal(d, first) {
			return c, a.errorf("inputs", "input %d has shape %v, input 0 has %v", i, d, first)
		}
		c.Sizes = append(c.Sizes, int(nn.Elements(d[c.Axis:])))
	}
	c.Outer = int(nn.Elements(first[:c.Axis]))
	c.Dims = append(append(append([]uint32{}, first[:c.Axis]...), uint32(len(c.Inputs))), first[c.Axis:]...)
	if nn.Elements(c.Dims) < 0 {
		return c, a.errorf("inputs", "result %v is too large", c.Dims)
	}
	return c, nil
}

// Split is a SPLIT into equal parts: for each of Outer, Size contiguous
// elements go to the first output, the next Size to the second, and so on.
type Split struct {
	Input   uint32 // operand index
	Outputs []uint32
	Type    nn.OperandType
	Dims    []uint32 // of each output
	Outer   int
	Size    int // contiguous elements per output and outer index
}

func readSplit(a *Args) (Split, error) {
	s := Split{Input: a.In("input"), Outputs: a.Op.Outputs, Type: a.Key}
	in := try.V(a.Dims("input"))
	x := try.V(a.Int32("axis"))
	at, err := axis(x, len(in))
	if err != nil {
		return s, a.errorf("axis", "%w", err)
	}
	n := try.V(a.Int32("count"))
	if int(n) != len(a.Op.Outputs) || n < 1 || in[at]%uint32(n) != 0 {
		return s, a.errorf("count", "%d parts of %v along %d for %d outputs", n, in, at, len(a.Op.Outputs))
	}
	s.Dims = append([]uint32(nil), in...)
	s.Dims[at] /= uint32(n)
	s.Outer, s.Size = int(nn.Elements(in[:at])), int(nn.Elements(s.Dims[at:]))
	return s, nil
}

// Tile is a TILE: each dimension repeated Multiples times.
type Tile struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32
}

func readTile(a *Args) (Tile, error) {
	t := Tile{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	t.In = try.V(a.Dims("input"))
	m := try.V(a.Int32s("multiples"))
	if len(m) != len(t.In) {
		return t, a.errorf("multiples", "%d entries for rank %d", len(m), len(t.In))
	}
	for i, d := range t.In {
		n := int64(d) * int64(m[i])
		if m[i] < 0 || n > nn.MaxElements {
			return t, a.errorf("multiples", "%d times dimension %d of %v", m[i], i, t.In)
		}
		t.Dims = append(t.Dims, uint32(n))
	}
	return t, nil
}

// oneQuantUntil12 demands that all quantized inputs that repeat have the quantization of
// the output.
func oneQuantUntil12(a *Args) error {
	if a.Key != nn.TensorQuant8Asymm {
		return nil
	}
	y := a.quantOf(a.Op.Outputs[0])
	for i, x := range a.Variadic() {
		if q := a.quantOf(x); q.Scale != y.Scale || q.ZeroPoint != y.ZeroPoint {
			return fmt.Errorf("%s: input %d has another quantization than the output, which needs HAL 1.2", a.Op.Type, i)
		}
	}
	return nil
}
