package opspec

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// codebookRows are the operations of the extension nn.CodebookExtension.
var codebookRows = []Row{
	{Op: nn.OpDecodeCodebook, Since: Extension, Extension: nn.CodebookExtension, Types: "TENSOR_QUANT8_CODEBOOK@extension",
		Args: Arguments[Decode]{Read: readDecode, Shapes: one(func(d *Decode) []uint32 { return d.Dims })},
		Work: WorkRule{Quant: 8},
		Forms: []Form{
			{Extension, "input:T", "output:Q8 | output:Q8S"},
		}},
}

// maxCodebook is how many values codes of one byte can stand for.
const maxCodebook = 256

// Decode is DECODE_CODEBOOK.
type Decode struct {
	Input, Output uint32 // operand indexes
	Dims          []uint32
	Codebook      []float32 // what the codes of the input stand for
}

// readDecode reads the codebook before the shape, so that a bad one is an error even where
// the shape is not known yet.
func readDecode(a *Args) (d Decode, err error) {
	d.Input, d.Output = a.In("input"), a.Op.Outputs[0]
	b := a.View.Operands[d.Input].Extension
	if n := len(b) / 4; len(b)%4 != 0 || n < 2 || n > maxCodebook {
		return d, a.errorf("input", "a codebook of %d bytes as extension data, 2 to %d float32 needed", len(b), maxCodebook)
	}
	for k := 0; k < len(b); k += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(b[k:]))
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return d, a.errorf("input", "value %d of its codebook is %v", k/4, v)
		}
		d.Codebook = append(d.Codebook, v)
	}
	d.Dims, err = a.Dims("input")
	return d, err
}

// Table maps every code to the output: the value that it stands for, as QUANTIZE rounds and
// clamps it.
func (d *Decode) Table(v View) *[256]byte {
	out := &v.Operands[d.Output]
	lo, hi := QuantLimits(out.Type)
	t := new([256]byte)
	for q := range t {
		real := d.Codebook[min(q, len(d.Codebook)-1)]
		t[q] = byte(QuantizeValue(real, out.Scale, out.ZeroPoint, lo, hi))
	}
	return t
}
