package dataset

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Names of arrays in a .npz.
var (
	inputNames = []string{"x", "x_test", "images", "inputs", "input"}
	truthNames = []string{"y", "y_test", "labels", "targets", "outputs", "output"}
)

// maxArray bounds one array of a .npz.
const maxArray = 1 << 30

// openArrays reads a .npz.
func openArrays(path string, o *Options) (_ *Set, err error) {
	defer try.Catch(&err)
	z := try.V(zip.OpenReader(path))
	defer z.Close()
	files := map[string]*zip.File{}
	var names []string
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		names = append(names, name)
		files[name] = f
	}
	inputs := try.V(choose(files, names, inputNames, "x", len(o.Inputs)))
	truths := try.V(choose(files, names, truthNames, "y", 0))
	n := 0
	h := sha256.New()
	for i, a := range slices.Concat(inputs, truths) {
		fmt.Fprintln(h, a.Descr, a.Shape)
		h.Write(a.Data)
		if len(a.Shape) == 0 || i > 0 && a.Shape[0] != n {
			return nil, fmt.Errorf("arrays of shapes %v and %v: the first axis counts samples", inputs[0].Shape, a.Shape)
		}
		n = a.Shape[0]
	}
	if n > maxSamples {
		return nil, fmt.Errorf("more than %d samples", maxSamples)
	}
	s := &Set{samples: make([]sample, n), hash: sum(h)}
	for i := range s.samples {
		s.samples[i].name = fmt.Sprint(i)
	}
	g := &o.Model.Main
	s.read = func(i int) ([][]byte, Truth, error) {
		t := Truth{Class: -1}
		var list [][]byte
		for k, a := range inputs {
			b, err := o.encode(row(a, i), &g.Operands[g.Inputs[o.Inputs[k]]], a.Descr)
			if err != nil {
				return nil, t, fmt.Errorf("input %d: %w", k, err)
			}
			list = append(list, b)
		}
		for _, a := range truths {
			t.Values = append(t.Values, row(a, i))
		}
		if len(t.Values) == 1 && len(t.Values[0]) == 1 {
			if v := t.Values[0][0]; v == math.Trunc(v) && v >= 0 && v < math.MaxInt32 {
				t.Class = int(v)
			}
		}
		return list, t, nil
	}
	return s, nil
}

// choose reads the arrays of inputs or truths: prefix0, prefix1 ... or one of
// the names. count 0 is any number. Other arrays of a file may be of any type and size.
func choose(files map[string]*zip.File, all, names []string, prefix string, count int) ([]*npy.Array, error) {
	var chosen []*zip.File
	for f := files[prefix+"0"]; f != nil; f = files[fmt.Sprint(prefix, len(chosen))] {
		chosen = append(chosen, f)
	}
	for _, n := range names {
		if f := files[n]; f != nil && len(chosen) == 0 {
			chosen = append(chosen, f)
		}
	}
	if len(chosen) == 0 || count > 0 && len(chosen) != count {
		return nil, fmt.Errorf("it has arrays %s; want %d of %s, or %s0, %s1 and so on", strings.Join(all, ", "), max(count, 1), strings.Join(names, ", "), prefix, prefix)
	}
	var list []*npy.Array
	for _, f := range chosen {
		a, err := readArray(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// readArray reads an array of a .npz.
func readArray(f *zip.File) (*npy.Array, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxArray+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxArray {
		return nil, fmt.Errorf("larger than %d MiB", maxArray>>20)
	}
	a, err := npy.Parse(data)
	if err == nil && elementBytes(a.Descr) == 0 {
		err = fmt.Errorf("elements %q; want integers or floats", a.Descr)
	}
	return a, err
}

// elementTypes are the operand types whose elements an array has.
var elementTypes = map[string]nn.OperandType{
	"f4": nn.TensorFloat32, "f2": nn.TensorFloat16, "i4": nn.TensorInt32, "u1": nn.TensorQuant8Asymm, "i1": nn.TensorQuant8AsymmSigned,
	"b1": nn.TensorBool8, "i2": nn.TensorQuant16Symm, "u2": nn.TensorQuant16Asymm,
}

// elementBytes is the size of an element; 0 for types that are not read.
func elementBytes(descr string) int {
	switch t := strings.TrimLeft(descr, "<|="); t {
	case "f8", "i8":
		return 8
	default:
		if x, ok := elementTypes[t]; ok && descr[0] != '>' {
			return x.ElementBytes()
		}
	}
	return 0
}

// row is sample i of an array as numbers.
func row(a *npy.Array, i int) []float64 {
	size := elementBytes(a.Descr)
	n := len(a.Data) / size / max(a.Shape[0], 1)
	out := make([]float64, n)
	for k := range out {
		b := a.Data[(i*n+k)*size:]
		switch t := strings.TrimLeft(a.Descr, "<|="); t {
		case "f8":
			out[k] = math.Float64frombits(little(b))
		case "i8":
			out[k] = float64(int64(little(b)))
		default:
			out[k] = opspec.Element(elementTypes[t], b)
		}
	}
	return out
}

func little(b []byte) (x uint64) {
	for i := range 8 {
		x |= uint64(b[i]) << (8 * i)
	}
	return x
}

// encode converts numbers to an operand's bytes. Floats are quantized as the operand is; integers are raw elements, or
// pixels for a float input.
func (o *Options) encode(v []float64, x *nn.Operand, descr string) ([]byte, error) {
	if int64(len(v)) != x.Elements() {
		return nil, fmt.Errorf("%d elements per sample, shape %v needs %d", len(v), x.Dimensions, x.Elements())
	}
	float := strings.Contains(descr, "f")
	size := x.Type.ElementBytes()
	b := make([]byte, len(v)*size)
	for i, r := range v {
		switch {
		case !float && (x.Type == nn.TensorFloat32 || x.Type == nn.TensorFloat16):
			r = (r - o.Normalization.Mean) / o.Normalization.Std
		case float && x.Scale > 0:
			r = math.RoundToEven(r/float64(x.Scale)) + float64(x.ZeroPoint)
		}
		if !put(x.Type, b[i*size:], r) {
			return nil, fmt.Errorf("element %d: %v is no %v", i, v[i], x.Type)
		}
	}
	return b, nil
}

// integerRange are the values of integer elements.
var integerRange = map[nn.OperandType][2]float64{
	nn.TensorInt32: {math.MinInt32, math.MaxInt32}, nn.TensorQuant8Asymm: {0, 255}, nn.TensorQuant8AsymmSigned: {-128, 127}, nn.TensorBool8: {0, 1},
	nn.TensorQuant16Symm: {-32768, 32767}, nn.TensorQuant16Asymm: {0, 65535},
}

// put writes an element; quantized values saturate, others must fit.
func put(t nn.OperandType, b []byte, v float64) bool {
	switch t {
	case nn.TensorFloat32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
		return true
	case nn.TensorFloat16:
		binary.LittleEndian.PutUint16(b, float16.Fromfloat32(float32(v)).Bits())
		return true
	}
	r, ok := integerRange[t]
	if !ok || v != math.Trunc(v) {
		return false
	}
	if t == nn.TensorInt32 && (v < r[0] || v > r[1]) {
		return false
	}
	x := uint32(int64(min(max(v, r[0]), r[1])))
	for k := range t.ElementBytes() {
		b[k] = byte(x >> (8 * k))
	}
	return true
}

// Real are the real values of an operand's elements.
func Real(x *nn.Operand, data []byte) []float64 {
	size := x.Type.ElementBytes()
	out := make([]float64, len(data)/size)
	for i := range out {
		out[i] = opspec.Element(x.Type, data[i*size:])
		if x.Scale > 0 {
			out[i] = (out[i] - float64(x.ZeroPoint)) * float64(x.Scale)
		}
	}
	return out
}
