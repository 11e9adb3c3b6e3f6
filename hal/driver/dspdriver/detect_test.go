package dspdriver

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// TestRandomDetection requires the detection operations to equal the reference
// in every bit, output shapes included.
func TestRandomDetection(t *testing.T) {
	names := regexp.MustCompile("ROI_|HEATMAP|BBOX_TRANSFORM|NMS_LIMIT|PROPOSALS")
	r := require.V(randgraph.Run(device(t), randgraph.Options{Seed: 7, Count: 160, Operations: names, Exact: true, Functional: true}))(t)
	for _, f := range r.Failures {
		t.Errorf("%s: %v", f.Name, f.Err)
	}
	quantized := 0
	for _, c := range r.Coverage {
		if k := c.Variant.String(); strings.Contains(k, "QUANT") && names.MatchString(k) {
			quantized++
			if c.Passed == 0 {
				t.Errorf("%s never ran", k)
			}
		}
	}
	if quantized < 11 {
		t.Errorf("%d quantized variants", quantized)
	}
}

// TestRandomFloatEdges requires the same of the operations that read or make
// float32 values.
func TestRandomFloatEdges(t *testing.T) {
	names := regexp.MustCompile("^(QUANTIZE|DEQUANTIZE|CAST)$")
	r := require.V(randgraph.Run(device(t), randgraph.Options{Seed: 8, Count: 150, Operations: names, Exact: true, Functional: true}))(t)
	for _, f := range r.Failures {
		t.Errorf("%s: %v", f.Name, f.Err)
	}
	for _, c := range r.Coverage {
		if k := c.Variant.String(); strings.Contains(k, "FLOAT32") && c.Generated > 0 && c.Passed == 0 {
			t.Errorf("%s never ran", k)
		}
	}
}

// pairwise is a kernel that maps pairs of words to words.
type pairwise struct {
	name string
	f    *func(a *hvx.Builder, x, y, table codegen.Reg) codegen.Reg
}

func (k pairwise) Name() string { return k.name }

func (k pairwise) Emit(a *hvx.Builder) {
	r := a.Args("in", "out", "n", "table")
	a.Repeat(r[2], func() {
		x, y := a.Word(r[0], 0, "x"), a.Word(r[0], 1, "y")
		a.Op(hexagon.S2_storeri_io, r[1], 0, (*k.f)(a, x, y, r[3])).Stores(hvx.AliasOut)
		a.Bump(r[0], 8)
		a.Bump(r[1], 4)
	})
	a.Ret()
}

// compute runs a kernel that maps pairs of words to words.
func compute(t *testing.T, name string, f func(a *hvx.Builder, x, y, table codegen.Reg) codegen.Reg, in []uint32, table []uint32) []uint32 {
	t.Helper()
	b := hvxtest.New(t)
	at := b.Alloc(2 * len(in))
	b.Run(pairwise{name, &f}, []uint32{b.Words(in...), at, uint32(len(in) / 2), b.Words(append(table, 0, 0)...)})
	out := b.Bytes(at, 2*len(in))
	var w []uint32
	for ; len(out) > 0; out = out[4:] {
		w = append(w, binary.LittleEndian.Uint32(out))
	}
	return w
}

// TestDivide compares quotients with the host's, over all exponents.
func TestDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 41))
	var in []uint32
	for i := range 200_000 {
		x, y := r.Uint32(), r.Uint32()
		switch i % 4 {
		case 0: // quotients near a tie
			x, y = x&0x807fffff|0x3f800000, y&0x807fffff|0x3f800000
		case 1: // small integers
			x, y = math.Float32bits(float32(int32(x)>>16)), math.Float32bits(float32(int32(y)>>20))
		case 2: // denormal quotients
			x = x&0x80ffffff | 0x01000000
			y = y&0x807fffff | (0x3f800000 + y&0x0f000000)
		}
		in = append(in, x, y)
	}
	out := compute(t, "divide", func(a *hvx.Builder, x, y, _ codegen.Reg) codegen.Reg { return a.FDiv(x, y) }, in, nil)
	bad := 0
	for i, got := range out {
		x, y := math.Float32frombits(in[2*i]), math.Float32frombits(in[2*i+1])
		if q := x / y; math.Float32bits(q) != got && q == q {
			if bad++; bad < 10 {
				t.Errorf("%g / %g: %#x, want %#x", x, y, got, math.Float32bits(q))
			}
		}
	}
}

// TestExpMinus compares e^-x, rounded, with the host's.
func TestExpMinus(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 41))
	in := []uint32{0, 0, 1, 0, math.Float32bits(200), 0, math.Float32bits(float32(math.Inf(1))), 0}
	for range 20_000 {
		in = append(in, math.Float32bits(float32(math.Exp2(40*r.Float64()-34))), 0)
	}
	out := compute(t, "exp", func(a *hvx.Builder, x, _, table codegen.Reg) codegen.Reg { return detection.ExpMinus(a, x, table) }, in, detection.Reciprocals())
	for i, got := range out {
		x := math.Float32frombits(in[2*i])
		want := float32(math.Exp(-float64(x)))
		if want < 0x1p-126 { // denormals are rounded twice
			if g := math.Float32frombits(got); !(math.Abs(float64(g-want)) <= 0x1p-149) {
				t.Errorf("exp(-%g) = %g, want %g", x, g, want)
			}
		} else if got != math.Float32bits(want) {
			t.Errorf("exp(-%g) = %#x, want %#x", x, got, math.Float32bits(want))
		}
	}
}

// TestInvalidRegions requires an error for boxes upside down and images that
// are not there.
func TestInvalidRegions(t *testing.T) {
	for _, c := range []struct {
		region [4]uint16
		batch  int32
		ok     bool
	}{
		{[4]uint16{0, 0, 16, 16}, 0, true},
		{[4]uint16{17, 0, 16, 16}, 0, false},
		{[4]uint16{0, 17, 16, 16}, 0, false},
		{[4]uint16{0, 0, 16, 16}, 1, false},
		{[4]uint16{0, 0, 16, 16}, -1, false},
	} {
		b := newBuilder(rand.New(rand.NewPCG(3, 41)))
		in := b.activation(nn.TensorQuant8Asymm, 1, 4, 4, 3)
		x := b.input(in)
		region := nn.Operand{Type: nn.TensorQuant16Asymm, Dimensions: []uint32{1, 4}, Scale: 0.125}
		rois, batches := b.input(region), b.input(b.plain(nn.TensorInt32, 1))
		out := in
		out.Dimensions = []uint32{1, 2, 2, 3}
		one := b.float32(1)
		b.add(nn.OpRoiPooling, []uint32{x, rois, batches, b.int32(2), b.int32(2), one, one, b.bool(false)}, b.output(out))
		p := require.V(device(t).PrepareModel(&b.m, hal.PrepareOptions{}))(t)
		var box, batch []byte
		for _, v := range c.region {
			box = binary.LittleEndian.AppendUint16(box, v)
		}
		batch = binary.LittleEndian.AppendUint32(batch, uint32(c.batch))
		_, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{b.bytes(48), box, batch}, Outputs: [][]byte{make([]byte, 12)}})
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
