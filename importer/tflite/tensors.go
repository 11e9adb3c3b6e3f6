package tflite

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/nn"
)

// Codes of tensor types.
const (
	typeFloat32 = iota
	typeFloat16
	typeInt32
	typeUint8
	typeInt64
	typeString
	typeBool
	typeInt16
	typeComplex64
	typeInt8
	typeFloat64
	typeComplex128
	typeUint64
	typeResource
	typeVariant
	typeUint32
	typeUint16
	typeInt4
)

// tensorType is how NNAPI holds a tensor type of the format. Integers of other
// widths are narrowed to, or stored in, 32 or 8 bits. NNAPI has 16-bit values
// for the cell state of an LSTM only: quantized ones are TENSOR_INT32 with their
// scale elsewhere.
type tensorType struct {
	name  string
	nnapi nn.OperandType
	bits  int // of an element in the file; 0: NNAPI has no such type
}

var typesOfTensors = [...]tensorType{
	typeFloat32:    {"FLOAT32", nn.TensorFloat32, 32},
	typeFloat16:    {"FLOAT16", nn.TensorFloat16, 16},
	typeInt32:      {"INT32", nn.TensorInt32, 32},
	typeUint8:      {"UINT8", nn.TensorQuant8Asymm, 8},
	typeInt64:      {"INT64", nn.TensorInt32, 64},
	typeString:     {"STRING", 0, 0},
	typeBool:       {"BOOL", nn.TensorBool8, 8},
	typeInt16:      {"INT16", nn.TensorInt32, 16},
	typeComplex64:  {"COMPLEX64", nn.TensorFloat32, 64},
	typeInt8:       {"INT8", nn.TensorQuant8AsymmSigned, 8},
	typeFloat64:    {"FLOAT64", nn.TensorFloat32, 64},
	typeComplex128: {"COMPLEX128", 0, 0},
	typeUint64:     {"UINT64", nn.TensorInt32, 64},
	typeResource:   {"RESOURCE", 0, 0},
	typeVariant:    {"VARIANT", 0, 0},
	typeUint32:     {"UINT32", nn.TensorInt32, 32},
	typeUint16:     {"UINT16", nn.TensorInt32, 16},
	typeInt4:       {"INT4", nn.TensorQuant8AsymmSigned, 4},
}

func typeName(code int64) string {
	if code >= 0 && code < int64(len(typesOfTensors)) {
		return typesOfTensors[code].name
	}
	return fmt.Sprintf("type %d", code)
}

// fileShape is the shape of tensor t that the file states, 0 for a dimension
// that it leaves open.
func (g *graph) fileShape(t int) []uint32 {
	v := g.tensors[t].Vector("shape")
	if v.N > 8 {
		g.Failf("tensor %d has rank %d, at most 8", t, v.N)
	}
	shape := make([]uint32, v.N)
	for i := range shape {
		switch n := v.Int(i); {
		case n > 0:
			shape[i] = uint32(n)
		case n < -1:
			g.Failf("dimension %d of tensor %d is %d", i, t, n)
		}
	}
	if nn.Elements(shape) < 0 {
		g.Failf("tensor %d has shape %v, which is too large", t, shape)
	}
	return shape
}

// openShape is the shape of tensor t as far as it holds for every input: the
// file's, 0 for the dimensions that its signature leaves open.
func (g *graph) openShape(t int) []uint32 {
	shape, signature := g.fileShape(t), g.tensors[t].Vector("shape_signature")
	for i := range shape {
		if g.resized || signature.N != len(shape) || signature.Int(i) < 0 {
			shape[i] = 0
		}
	}
	return shape
}

// declare is tensor t as an operand without shape or value; ok is false when
// NNAPI lacks its type.
func (g *graph) declare(t int) (o nn.Operand, ok bool) {
	tensor := g.tensors[t]
	o.Name = tensor.Text("name")
	code := tensor.Int("type")
	if code < 0 || code >= int64(len(typesOfTensors)) || typesOfTensors[code].bits == 0 {
		return o, false
	}
	o.Type = typesOfTensors[code].nnapi
	_, unsigned := g.unsigned16(t)
	if _, blocks := g.blockwise(t); unsigned || blocks {
		o.Type = nn.TensorFloat32
		return o, true
	}
	g.quantize(&o, t, code)
	return o, true
}

// unsigned16 is the scale of an int16 tensor whose zero point is the least value: unsigned 16 bits. As inputs and
// outputs of the network such tensors are TENSOR_QUANT16_ASYMM. NNAPI computes with that type nowhere but in boxes, so
// that inside the network they are held as the reals that they represent, rounded to their steps.
func (g *graph) unsigned16(t int) (scale float32, ok bool) {
	if g.tensors[t].Int("type") != typeInt16 {
		return 0, false
	}
	q := g.quantization(t)
	if len(q.scales) != 1 || q.zeros[0] != math.MinInt16 {
		return 0, false
	}
	return q.scales[0], true
}

// inSteps rounds reals to the values of unsigned 16 bits.
func (g *graph) inSteps(x uint32, scale float32) uint32 {
	steps := g.Clamp(g.Round(g.Binary(nn.OpDiv, g.As(x, nn.TensorFloat32), g.Real(scale))), 0, math.MaxUint16)
	return g.Binary(nn.OpMul, steps, g.Real(scale))
}

// template is declare for a tensor of an operator.
func (g *graph) template(t int) nn.Operand {
	o, ok := g.declare(t)
	if !ok {
		g.Refusef("tensor %q has the type %s, which NNAPI lacks", o.Name, typeName(g.tensors[t].Int("type")))
	}
	return o
}

// load is the operand that holds tensor t. Constants are read when an operator
// first uses them.
func (g *graph) load(t int) uint32 {
	if x := g.value[t]; x != none {
		return x
	}
	data := g.buffer(t)
	if data == nil && g.tensors[t].Bool("is_variable") {
		return g.openState(t)
	}
	o := g.template(t)
	if g.isComplex(t) && data != nil {
		g.Refusef("tensor %q is a constant of complex numbers", o.Name)
	}
	shape := g.fileShape(t)
	if data == nil && nn.Elements(shape) != 0 {
		g.Failf("tensor %d (%q) is read before it is written", t, o.Name)
	}
	o.Dimensions = lowering.Held(shape)
	q, blocks := g.blockwise(t)
	if s, ok := g.tensors[t].Table("sparsity"); ok {
		if blocks {
			g.Refusef("tensor %q is both sparse and quantized by blocks", o.Name)
		}
		g.value[t] = g.densify(o, typesOfTensors[g.tensors[t].Int("type")].bits, data, s)
		return g.value[t]
	}
	want := (nn.Elements(shape)*int64(typesOfTensors[g.tensors[t].Int("type")].bits) + 7) / 8
	if int64(len(data)) != want {
		g.Failf("tensor %d: %s %v has %d bytes, its buffer %d", t, typeName(g.tensors[t].Int("type")), shape, want, len(data))
	}
	var wide []int64
	o.Lifetime = nn.ConstantReference
	if scale, ok := g.unsigned16(t); ok {
		g.Spend(2 * int64(len(data)))
		for i := 0; i < len(data); i += 2 {
			v := float32(int(int16(binary.LittleEndian.Uint16(data[i:])))-math.MinInt16) * scale
			o.Data = binary.LittleEndian.AppendUint32(o.Data, math.Float32bits(v))
		}
	} else if blocks {
		o.Data = g.blockReals(t, q, shape, data)
	} else {
		o.Data, wide = g.convertElements(data, g.tensors[t].Int("type"))
	}
	x := g.Add(o)
	g.value[t] = x
	g.SetShape(x, shape)
	if wide != nil {
		g.Wide[x] = wide
	}
	return x
}

// buffer is the data of tensor t in the file, nil when it has none.
func (g *graph) buffer(t int) []byte {
	i, n := g.tensors[t].Int("buffer"), g.im.root.Tables("buffers")
	if i == 0 && n == 0 {
		return nil
	}
	if i < 0 || i >= int64(n) {
		g.Failf("tensor %d: buffer %d of %d", t, i, n)
	}
	b := g.im.root.TableAt("buffers", int(i))
	if at, size := b.Int("offset"), b.Int("size"); at > 1 { // behind the tables of a large file
		if at < 0 || size < 0 || at > int64(len(g.im.data)) || size > int64(len(g.im.data))-at {
			g.Failf("buffer %d: %d bytes at %d reach beyond the file", i, size, at)
		}
		return g.im.data[at : at+size : at+size]
	}
	if data := b.Bytes("data"); len(data) > 0 {
		return data
	}
	return nil
}

// convertElements stores elements of the file as NNAPI holds them. wide are
// all values when some do not fit 32 bits; data then saturates.
func (g *graph) convertElements(data []byte, code int64) (converted []byte, wide []int64) {
	switch code {
	case typeInt16, typeUint16:
		g.Spend(2 * int64(len(data)))
		out := make([]byte, 0, 2*len(data))
		for i := 0; i < len(data); i += 2 {
			v := int32(binary.LittleEndian.Uint16(data[i:]))
			if code == typeInt16 {
				v = int32(int16(v))
			}
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
		return out, nil
	case typeInt64, typeUint64, typeUint32:
		size := typesOfTensors[code].bits / 8
		g.Spend(int64(len(data)) / 2)
		out, fits := make([]byte, 0, len(data)*4/size), true
		value := func(i int) int64 {
			if size == 4 {
				return int64(binary.LittleEndian.Uint32(data[i:]))
			}
			return int64(binary.LittleEndian.Uint64(data[i:]))
		}
		for i := 0; i < len(data); i += size {
			v := value(i)
			n := min(max(v, math.MinInt32), math.MaxInt32)
			fits = fits && n == v
			out = binary.LittleEndian.AppendUint32(out, uint32(n))
		}
		if !fits {
			g.Spend(2 * int64(len(data)))
			for i := 0; i < len(data); i += size {
				wide = append(wide, value(i))
			}
		}
		return out, wide
	case typeFloat64:
		g.Spend(int64(len(data)) / 2)
		out := make([]byte, 0, len(data)/2)
		for i := 0; i < len(data); i += 8 {
			v := math.Float64frombits(binary.LittleEndian.Uint64(data[i:]))
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
		return out, nil
	case typeInt4:
		g.Spend(2 * int64(len(data)))
		out := make([]byte, 0, 2*len(data))
		for _, b := range data { // the low half first, sign extended
			out = append(out, byte(int8(b<<4)>>4), byte(int8(b)>>4))
		}
		return out, nil
	}
	return data, nil
}
