package onnx

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
)

// held is how NNAPI holds tensors of a type of the format: integers of other widths are
// narrowed to, or stored in, 32 or 8 bits; FLOAT, DOUBLE, BFLOAT16 and reals of less bits are float32.
var held = map[onnxfile.DataType]nn.OperandType{
	onnxfile.Float: nn.TensorFloat32, onnxfile.Double: nn.TensorFloat32, onnxfile.BFloat16: nn.TensorFloat32, onnxfile.Float16: nn.TensorFloat16,
	onnxfile.Int32: nn.TensorInt32, onnxfile.Int64: nn.TensorInt32, onnxfile.Uint32: nn.TensorInt32, onnxfile.Uint64: nn.TensorInt32,
	onnxfile.Int16: nn.TensorInt32, onnxfile.Uint16: nn.TensorInt32, onnxfile.Int8: nn.TensorQuant8AsymmSigned, onnxfile.Uint8: nn.TensorQuant8Asymm,
	onnxfile.Int4: nn.TensorQuant8AsymmSigned, onnxfile.Uint4: nn.TensorQuant8Asymm, onnxfile.Bool: nn.TensorBool8,
	onnxfile.Float8E4M3FN: nn.TensorFloat32, onnxfile.Float8E4M3FNUZ: nn.TensorFloat32, onnxfile.Float8E5M2: nn.TensorFloat32, onnxfile.Float8E5M2FNUZ: nn.TensorFloat32,
	onnxfile.Float4E2M1: nn.TensorFloat32,
}

// template is an operand of a type of the format; 8-bit integers count in ones.
func template(t onnxfile.DataType) (o nn.Operand, ok bool) {
	o.Type, ok = held[t]
	if o.Type.IsQuant8() {
		o.Scale = 1
	}
	return o, ok
}

// constant is an initializer or the tensor of an attribute.
func (g *graph) constant(t *onnxfile.Tensor) *value {
	o, ok := template(t.Type)
	if !ok {
		g.Refusef("tensor %q has the type %v, which NNAPI lacks", t.Name, t.Type)
	}
	if len(t.Dims) > 8 {
		g.Failf("tensor %q has rank %d, at most 8", t.Name, len(t.Dims))
	}
	shape := g.Unsigned(t.Dims)
	n := nn.Elements(shape)
	if n < 0 {
		g.Failf("tensor %q has shape %v, which is too large", t.Name, shape)
	}
	o.Name, o.Dimensions, o.Lifetime = t.Name, lowering.Held(shape), nn.ConstantReference
	var wide []int64
	o.Data, wide = g.elements(t, n)
	x := g.Add(o)
	g.SetShape(x, shape)
	if n == 0 {
		g.Shape[x] = shape // an empty list: read now, never an operand of an operation
	}
	if wide != nil {
		g.Wide[x] = wide
	}
	v := g.valueOf(x)
	v.short = shortType(t.Type)
	return v
}

// dense is the constant of a sparse tensor, with 0 where it has no element.
func (g *graph) dense(s *onnxfile.SparseTensor) *value {
	shape := g.Unsigned(s.Dims)
	n, given := nn.Elements(shape), nn.Elements(g.Unsigned(s.Values.Dims))
	if n <= 0 || given < 0 || given > n || len(s.Values.Dims) != 1 {
		g.Failf("sparse tensor %q has %v elements of shape %v", s.Values.Name, s.Values.Dims, s.Dims)
	}
	of := g.constant(&s.Values)
	from := of.forms[real]
	places, ok := g.Ints(g.constant(&s.Indices).forms[real])
	rank := int64(len(shape))
	switch d := s.Indices.Dims; {
	case ok && len(d) == 1 && d[0] == given:
	case ok && len(d) == 2 && d[0] == given && d[1] == rank:
		linear := make([]int64, given)
		for i := range linear {
			for k, at := range places[int64(i)*rank:][:rank] {
				if at < 0 || at >= int64(shape[k]) {
					g.Failf("sparse tensor %q has place %v of shape %v", s.Values.Name, places[int64(i)*rank:][:rank], s.Dims)
				}
				linear[i] = linear[i]*int64(shape[k]) + at
			}
		}
		places = linear
	default:
		g.Failf("sparse tensor %q has places of shape %v for %d elements", s.Values.Name, d, given)
	}
	if g.Wide[from] != nil {
		g.Refusef("sparse tensor %q has values that do not fit 32 bits", s.Values.Name)
	}
	o := *g.Operand(from)
	size := o.Type.ElementBytes()
	o.Dimensions, o.Lifetime = lowering.Held(shape), nn.ConstantCopy
	g.Spend(n * int64(size))
	data := make([]byte, n*int64(size))
	for i, at := range places {
		if at < 0 || at >= n {
			g.Failf("sparse tensor %q has place %d of %d", s.Values.Name, at, n)
		}
		copy(data[at*int64(size):][:size], o.Data[i*size:])
	}
	o.Data = data
	x := g.Add(o)
	g.SetShape(x, shape)
	v := g.valueOf(x)
	v.short = of.short
	return v
}

// elements are the elements of a tensor as NNAPI holds them. wide are all values when some
// do not fit 32 bits; data then saturates.
func (g *graph) elements(t *onnxfile.Tensor, n int64) (data []byte, wide []int64) {
	raw := t.Raw
	if t.External != nil {
		raw = g.external(t, n)
	}
	if raw == nil && n > 0 {
		return g.listed(t, n)
	}
	if want := (n*int64(t.Type.Bits()) + 7) / 8; int64(len(raw)) != want {
		g.Failf("tensor %q: %v %v has %d bytes, its data %d", t.Name, t.Type, t.Dims, want, len(raw))
	}
	switch t.Type {
	case onnxfile.Float, onnxfile.Float16, onnxfile.Int32, onnxfile.Int8, onnxfile.Uint8, onnxfile.Bool:
		return raw[:len(raw):len(raw)], nil
	case onnxfile.Float8E4M3FN, onnxfile.Float8E4M3FNUZ, onnxfile.Float8E5M2, onnxfile.Float8E5M2FNUZ, onnxfile.Float4E2M1:
		g.Spend(4 * n)
		f := smallFloats[t.Type]
		return smallReals(&f, raw, n), nil
	case onnxfile.Double, onnxfile.BFloat16:
		g.Spend(4 * n)
		data = make([]byte, 0, 4*n)
		for i := range n {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(rawReal(raw, t.Type, i)))
		}
		return data, nil
	case onnxfile.Int4, onnxfile.Uint4:
		g.Spend(n)
		data = make([]byte, 0, n)
		for i := range n { // the low half first
			b := raw[i/2] >> (4 * (i % 2)) & 15
			if t.Type == onnxfile.Int4 {
				b = byte(int8(b<<4) >> 4)
			}
			data = append(data, b)
		}
		return data, nil
	}
	if t.Type == onnxfile.Uint64 {
		return g.narrowed(n, func(i int64) int64 { return g.signed(t, binary.LittleEndian.Uint64(raw[8*i:])) })
	}
	return g.narrowed(n, func(i int64) int64 { return rawInteger(raw, t.Type, i) })
}

// signed is an element of an unsigned type as a signed number of 64 bits.
func (g *graph) signed(t *onnxfile.Tensor, v uint64) int64 {
	if v > math.MaxInt64 {
		g.Refusef("tensor %q has the element %d of %v, at most %d is supported", t.Name, v, t.Type, int64(math.MaxInt64))
	}
	return int64(v)
}

func rawReal(raw []byte, t onnxfile.DataType, i int64) float32 {
	if t == onnxfile.BFloat16 {
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
	}
	return float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
}

func rawInteger(raw []byte, t onnxfile.DataType, i int64) int64 {
	switch t {
	case onnxfile.Int16:
		return int64(int16(binary.LittleEndian.Uint16(raw[2*i:])))
	case onnxfile.Uint16:
		return int64(binary.LittleEndian.Uint16(raw[2*i:]))
	case onnxfile.Uint32:
		return int64(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return int64(binary.LittleEndian.Uint64(raw[8*i:]))
}

// narrowed stores integers in 32 bits.
func (g *graph) narrowed(n int64, at func(i int64) int64) (data []byte, wide []int64) {
	g.Spend(4 * n)
	data = make([]byte, 0, 4*n)
	fits := true
	for i := range n {
		v := at(i)
		c := min(max(v, math.MinInt32), math.MaxInt32)
		fits = fits && c == v
		data = binary.LittleEndian.AppendUint32(data, uint32(c))
	}
	if !fits {
		g.Spend(8 * n)
		for i := range n {
			wide = append(wide, at(i))
		}
	}
	return data, wide
}

// listed are the elements in the list of their type.
func (g *graph) listed(t *onnxfile.Tensor, n int64) (data []byte, wide []int64) {
	count := func(k int) {
		if int64(k) != n {
			g.Failf("tensor %q: shape %v of %v, a list of %d elements", t.Name, t.Dims, t.Type, k)
		}
	}
	g.Spend(4 * n)
	switch t.Type {
	case onnxfile.Float:
		count(len(t.Floats))
		for _, v := range t.Floats {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		return data, nil
	case onnxfile.Double:
		count(len(t.Doubles))
		for _, v := range t.Doubles {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
		return data, nil
	case onnxfile.Int64:
		count(len(t.Int64s))
		return g.narrowed(n, func(i int64) int64 { return t.Int64s[i] })
	case onnxfile.Uint32, onnxfile.Uint64:
		count(len(t.Uint64s))
		return g.narrowed(n, func(i int64) int64 { return g.signed(t, t.Uint64s[i]) })
	case onnxfile.Float8E4M3FN, onnxfile.Float8E4M3FNUZ, onnxfile.Float8E5M2, onnxfile.Float8E5M2FNUZ, // a byte in an entry
		onnxfile.Int4, onnxfile.Uint4, onnxfile.Float4E2M1: // two in an entry
		if int64(len(t.Int32s)) != (n*int64(t.Type.Bits())+7)/8 {
			g.Failf("tensor %q: shape %v of %v, a list of %d entries", t.Name, t.Dims, t.Type, len(t.Int32s))
		}
		packed := *t
		for _, v := range t.Int32s {
			packed.Raw = append(packed.Raw, byte(v))
		}
		return g.elements(&packed, n)
	}
	count(len(t.Int32s))
	for _, v := range t.Int32s {
		switch t.Type {
		case onnxfile.Int8, onnxfile.Uint8, onnxfile.Bool:
			data = append(data, byte(v))
		case onnxfile.Float16:
			data = binary.LittleEndian.AppendUint16(data, uint16(v))
		case onnxfile.BFloat16:
			data = binary.LittleEndian.AppendUint32(data, uint32(uint16(v))<<16)
		case onnxfile.Int16:
			data = binary.LittleEndian.AppendUint32(data, uint32(int32(int16(v))))
		case onnxfile.Uint16:
			data = binary.LittleEndian.AppendUint32(data, uint32(uint16(v)))
		default:
			data = binary.LittleEndian.AppendUint32(data, uint32(v))
		}
	}
	return data, nil
}

// external is the data of a tensor in another file.
func (g *graph) external(t *onnxfile.Tensor, n int64) []byte {
	location := t.External["location"]
	if g.im.options.External == nil {
		g.Failf("tensor %q stands in the file %q, which is not at hand", t.Name, location)
	}
	file, ok := g.im.files[location]
	if !ok {
		var err error
		if file, err = g.im.options.External(location); err != nil {
			g.Failf("tensor %q: %v", t.Name, err)
		}
		g.im.files[location] = file
	}
	number := func(key string, initial int64) int64 {
		text, ok := t.External[key]
		if !ok || text == "" {
			return initial
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 {
			g.Failf("tensor %q: its %s in %q is %q, want a number of bytes", t.Name, key, location, text)
		}
		return v
	}
	at := number("offset", 0)
	size := number("length", (n*int64(t.Type.Bits())+7)/8)
	if has := int64(file.Len()); at > has || size > has-at {
		g.Failf("tensor %q: %d bytes at %d reach beyond %q, which has %d", t.Name, size, at, location, has)
	}
	g.Spend(size)
	data := make([]byte, size)
	if _, err := file.ReadAt(data, at); err != nil {
		g.Failf("tensor %q: %s: %v", t.Name, location, err)
	}
	return data
}

// floatElements are the elements of a float32 or float16 constant.
func floatElements(o *nn.Operand) []float32 {
	if o.Type == nn.TensorFloat16 {
		list := make([]float32, len(o.Data)/2)
		for i := range list {
			list[i] = float16.Frombits(binary.LittleEndian.Uint16(o.Data[2*i:])).Float32()
		}
		return list
	}
	list := make([]float32, len(o.Data)/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(o.Data[4*i:]))
	}
	return list
}

// floatLike is a constant of reals in the type of x.
func (g *graph) floatLike(x uint32, shape []uint32, list []float32) uint32 {
	y := g.FloatTensor(lowering.Held(shape), list)
	g.SetShape(y, shape)
	if g.Operand(x).Type == nn.TensorFloat16 {
		y = g.As(y, nn.TensorFloat16)
	}
	return y
}
