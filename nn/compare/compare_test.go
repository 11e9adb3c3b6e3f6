package compare

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

func floats(v ...float64) Tensor {
	t := Tensor{Type: nn.TensorFloat32, Dimensions: []uint32{uint32(len(v))}}
	for _, x := range v {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(float32(x)))
	}
	return t
}

func bytesOf(t nn.OperandType, v ...byte) Tensor { return Tensor{Type: t, Data: v} }

func shaped(t Tensor, dims ...uint32) Tensor {
	t.Dimensions = dims
	return t
}

// TestTensors: each kind of wrong element is found, and what is right passes.
func TestTensors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	half := func(bits uint16) Tensor {
		return Tensor{Type: nn.TensorFloat16, Data: binary.LittleEndian.AppendUint16(nil, bits)}
	}
	loose := Criterion{Element: Tolerance{Abs: 1e30, Rel: 1e30}}
	for _, c := range []struct {
		name             string
		expected, actual Tensor
		c                Criterion
		kind             Kind // with mismatches, if not WrongElement
		mismatches       int
	}{
		{name: "equal", expected: floats(1, -2, 0), actual: floats(1, -2, 0)},
		{name: "signed zero", expected: floats(0), actual: floats(math.Copysign(0, -1))},
		{name: "within", expected: floats(100), actual: floats(101), c: Criterion{Element: Tolerance{Abs: 0.5, Rel: 0.01}}},
		{name: "finite", expected: floats(1, 2), actual: floats(1, 3), mismatches: 1},
		{name: "outside", expected: floats(100), actual: floats(102), c: Criterion{Element: Tolerance{Abs: 0.5, Rel: 0.01}}, mismatches: 1},
		{name: "nan is nan", expected: floats(nan, 1), actual: floats(nan, 1)},
		{name: "nan expected", expected: floats(nan), actual: floats(0.867), c: loose, mismatches: 1},
		{name: "nan found", expected: floats(1), actual: floats(nan), c: loose, mismatches: 1},
		{name: "infinity is itself", expected: floats(inf, -inf), actual: floats(inf, -inf)},
		{name: "infinity expected", expected: floats(inf), actual: floats(3e38), c: loose, mismatches: 1},
		{name: "infinity found", expected: floats(3e38), actual: floats(inf), c: loose, mismatches: 1},
		{name: "other infinity", expected: floats(inf), actual: floats(-inf), c: loose, mismatches: 1},
		{name: "nan for infinity", expected: floats(inf), actual: floats(nan), c: loose, mismatches: 1},
		{name: "infinity for nan", expected: floats(nan), actual: floats(inf), c: loose, mismatches: 1},
		{name: "float16 nan", expected: half(0x7e00), actual: half(0x3c00), c: loose, mismatches: 1},
		{name: "float16 infinity", expected: half(0x7c00), actual: half(0x7bff), c: loose, mismatches: 1},
		{name: "missing", expected: floats(1, 2, 3), actual: shaped(floats(1, 2), 3), kind: MissingElements, mismatches: 1},
		{name: "all missing", expected: floats(1, 2, 3), actual: shaped(floats(), 3), kind: MissingElements, mismatches: 3},
		{name: "extra", expected: floats(1), actual: shaped(floats(1, 2, 3), 1), kind: ExtraElements, mismatches: 2},
		{name: "a byte too few", expected: floats(1), actual: shaped(Tensor{Type: nn.TensorFloat32, Data: []byte{0, 0, 128}}, 1), kind: MissingElements, mismatches: 1},
		{name: "a byte too many", expected: bytesOf(nn.TensorBool8, 1), actual: bytesOf(nn.TensorBool8, 1, 0), kind: ExtraElements, mismatches: 1},
		{name: "shape", expected: shaped(floats(1, 2), 2, 1), actual: shaped(floats(1, 2), 1, 2), kind: WrongShape, mismatches: 2},
		{name: "rank", expected: floats(1), actual: shaped(floats(1), 1, 1), kind: WrongShape, mismatches: 1},
		{name: "empty of another shape", expected: shaped(floats(), 0, 4), actual: shaped(floats(), 0, 5), kind: WrongShape, mismatches: 1},
		{name: "shape not told", expected: floats(1, 2), actual: Tensor{Type: nn.TensorFloat32, Data: floats(1, 2).Data}},
		{name: "type", expected: floats(1), actual: bytesOf(nn.TensorInt32, 0, 0, 128, 63), kind: WrongType, mismatches: 1},
		{name: "no type", expected: bytesOf(nn.SubgraphRef, 1), actual: bytesOf(nn.SubgraphRef, 1), kind: WrongType, mismatches: 1},
		{name: "unsigned", expected: bytesOf(nn.TensorQuant8Asymm, 0), actual: bytesOf(nn.TensorQuant8Asymm, 255), c: Criterion{Element: Tolerance{Abs: 1}}, mismatches: 1},
		{name: "signed", expected: bytesOf(nn.TensorQuant8AsymmSigned, 0), actual: bytesOf(nn.TensorQuant8AsymmSigned, 255), c: Criterion{Element: Tolerance{Abs: 1}}},
		{name: "some booleans", expected: bytesOf(nn.TensorBool8, 1, 1, 1), actual: bytesOf(nn.TensorBool8, 1, 0, 1), c: Criterion{WrongPercent: 10}},
		{name: "more booleans", expected: bytesOf(nn.TensorBool8, 1, 1, 1), actual: bytesOf(nn.TensorBool8, 1, 0, 0), c: Criterion{WrongPercent: 10}, mismatches: 2},
		{name: "mean", expected: floats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), actual: floats(1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
			c: Criterion{Element: Tolerance{Abs: 2}, MeanError: 0.5}, kind: WrongMean, mismatches: 10},
		{name: "mean square", expected: floats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), actual: floats(1, -1, 1, -1, 1, -1, 1, -1, 1, -1),
			c: Criterion{Element: Tolerance{Abs: 2}, MeanError: 0.5, MeanSquare: 0.5}, kind: WrongMean, mismatches: 10},
	} {
		r := Tensors(c.expected, c.actual, c.c)
		if r.Mismatches != c.mismatches || (r.First != nil) != (c.mismatches > 0) {
			t.Errorf("%s: %d mismatches, want %d: %v", c.name, r.Mismatches, c.mismatches, r.Err())
		} else if want := cmp.Or(c.kind, WrongElement); r.First != nil && r.First.Kind != want {
			t.Errorf("%s: %v, want %v: %v", c.name, r.First.Kind, want, r.Err())
		}
	}
}

// TestOutputs: outputs that are missing or too many are differences.
func TestOutputs(t *testing.T) {
	one, two := floats(1), floats(2)
	rule := BitExact(&nn.Model{})
	for _, c := range []struct {
		name             string
		expected, actual []Tensor
		want             string // in the error, empty for none
	}{
		{"same", []Tensor{one, two}, []Tensor{one, two}, ""},
		{"second wrong", []Tensor{one, two}, []Tensor{one, one}, "output 1: element [0] is 1, expected 2"},
		{"missing", []Tensor{one, two}, []Tensor{one}, "output 1: missing, 1 outputs of 2"},
		{"none", []Tensor{one}, nil, "output 0: missing"},
		{"extra", []Tensor{one}, []Tensor{one, two}, "output 1: not expected, 2 outputs of 1"},
	} {
		err := Err(Outputs(c.expected, c.actual, rule))
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestFirst: the first wrong element is reported with its place and neighbours.
func TestFirst(t *testing.T) {
	r := Tensors(shaped(floats(1, 2, 3, 4, 5, math.NaN()), 3, 2), shaped(floats(1, 2, 3, 9, 5, 6), 3, 2), Criterion{})
	d := r.First
	if d == nil || d.Index != 3 || d.Count != 2 || len(d.Coordinates) != 2 || d.Coordinates[0] != 1 || d.Coordinates[1] != 1 ||
		d.Expected != 4 || d.Actual != 9 || len(d.Around) != 6 {
		t.Fatalf("%+v", d)
	}
	if s := d.Neighbourhood(); !strings.Contains(s, "* [3] expected 4, actual 9") || !strings.Contains(s, "* [5] expected NaN, actual 6") ||
		strings.Count(s, "*") != 2 {
		t.Errorf("%s", s)
	}
	require.Check(t, math.IsInf(r.MaxAbsDiff, 1) && r.Top1 == 3 && r.Elements == 6, "%+v", r)
}

// TestRules: the tolerances by type, and what loosens them.
func TestRules(t *testing.T) {
	plain, relaxed := &nn.Model{}, &nn.Model{Relaxed: true}
	inner := &nn.Model{Referenced: []nn.Subgraph{{Operands: []nn.Operand{{Type: nn.TensorFloat16}}}}}
	for _, c := range []struct {
		m      *nn.Model
		t      nn.OperandType
		exact  float64
		vector float64
	}{
		{plain, nn.TensorFloat32, 1e-5, 1e-5},
		{relaxed, nn.TensorFloat32, 5. / 1024, 5. / 1024},
		{inner, nn.TensorFloat32, 5. / 1024, 5. / 1024},
		{plain, nn.TensorFloat16, 5. / 1024, 5. / 1024},
		{relaxed, nn.TensorQuant8Asymm, 0, 1},
		{plain, nn.TensorInt32, 0, 1},
		{plain, nn.TensorBool8, 0, 0},
	} {
		if e, v := BitExact(c.m)(c.t).Element.Abs, GeneratedTests(c.m)(c.t).Element.Abs; e != c.exact || v != c.vector {
			t.Errorf("%v: %v and %v, want %v and %v", c.t, e, v, c.exact, c.vector)
		}
	}
}

// TestNetworkRange gives a float output of several operations a share of its range,
// and nothing to one operation, to NaN and to infinity.
func TestNetworkRange(t *testing.T) {
	m := &nn.Model{Main: nn.Subgraph{Operations: make([]nn.Operation, 2)}}
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		operations int
		actual     [3]float64
		mismatches int
	}{
		{2, [3]float64{1.0009, 100, inf}, 0},
		{1, [3]float64{1.0009, 100, inf}, 1},
		{2, [3]float64{1.002, 100, inf}, 1},
		{2, [3]float64{nan, 100, 3e38}, 2},
	} {
		m.Main.Operations = m.Main.Operations[:c.operations]
		r := Tensors(floats(1, 100, inf), floats(c.actual[:]...), Network(m)(nn.TensorFloat32))
		if r.Mismatches != c.mismatches {
			t.Errorf("%d operations, %v: %d mismatches, want %d", c.operations, c.actual, r.Mismatches, c.mismatches)
		}
		m.Main.Operations = m.Main.Operations[:cap(m.Main.Operations)]
	}
}
