package kerneltest_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/gemm"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/window"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = r.Float32()*2 - 1
	}
	return v
}

// alone runs a kernel on a tensor and compares it with f.
func alone(t *testing.T, name string, in, out *layout.Tensor, x []float32, k kernel.Kernel, f func(i int) float64) {
	t.Helper()
	c := kerneltest.Case{Kernel: k, Inputs: []*layout.Tensor{in}, Data: [][]byte{kerneltest.Bytes(x)}, Output: out}
	c.Pages.NeedZero(1 << 12)
	r, err := c.Run()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, got := range r.Floats() {
		if want := f(i); !(math.Abs(float64(got)-want) <= 1e-5*(1+math.Abs(want))) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got, want)
		}
	}
	if w := k.Work(); w.Waves < 1 || w.Instructions < 1 || w.WriteBytes != int64(out.Bytes()) {
		t.Errorf("%s: work %+v", name, w)
	}
}

// TestGemm: products of all tiles against three loops.
func TestGemm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 3, 8, 33} {
		const units, depth = 40, 24
		in, out := kerneltest.Tensor(layout.F32, rows*depth), kerneltest.Tensor(layout.F32, rows*units)
		x, w, b := random(r, rows*depth), random(r, units*depth), random(r, units)
		k := &gemm.Kernel{
			Shape:   gemm.Shape{Elem: layout.F32, Rows: rows, Units: units, Taps: 1, Depth: depth, Lo: 0, Hi: 6},
			Weights: w, Bias: b, In: in, Out: out,
		}
		k.Cut()
		alone(t, "gemm", in, out, x, k, func(i int) float64 {
			sum := float64(b[i%units])
			for d := range depth {
				sum += float64(x[i/units*depth+d]) * float64(w[i%units*depth+d])
			}
			return min(max(sum, 0), 6)
		})
	}
}

// TestAverage: windows of three columns in a line, padded on both sides, in many and in
// few channels.
func TestAverage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []int{5, 40} {
		const n = 9
		in, out := kerneltest.Tensor(layout.F32, n*c), kerneltest.Tensor(layout.F32, n*c)
		x := random(r, n*c)
		k := &window.Kernel{In: in, Out: out, Shape: window.Shape{
			Mode: window.Average, Batches: 1, Rows: n, InC: c, OutC: c, Multiplier: 1, Lo: -math.MaxFloat32, Hi: math.MaxFloat32,
			Window: opspec.Window{H: 1, W: n, KH: 1, KW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, Left: 1, Right: 1, OutH: 1, OutW: n},
		}}
		k.Cut()
		alone(t, "average", in, out, x, k, func(i int) float64 {
			sum, taps := 0.0, 0.0
			for p := max(i/c-1, 0); p <= min(i/c+1, n-1); p++ {
				sum, taps = sum+float64(x[p*c+i%c]), taps+1
			}
			return sum / taps
		})
	}
}

// TestSoftmax: rows of 50.
func TestSoftmax(t *testing.T) {
	const rows, depth = 3, 50
	in, out := kerneltest.Tensor(layout.F32, rows*depth), kerneltest.Tensor(layout.F32, rows*depth)
	x := random(rand.New(rand.NewPCG(5, 6)), rows*depth)
	k := &reduce.Softmax{SoftmaxShape: reduce.SoftmaxShape{Outer: rows, Depth: depth, Inner: 1, Beta: 1}, In: in, Out: out}
	alone(t, "softmax", in, out, x, k, func(i int) float64 {
		sum := 0.0
		for d := range depth {
			sum += math.Exp(float64(x[i/depth*depth+d]))
		}
		return math.Exp(float64(x[i])) / sum
	})
}

// TestTranspose: a strided copy.
func TestTranspose(t *testing.T) {
	const h, w = 6, 10
	in, out := kerneltest.Tensor(layout.F32, h*w), kerneltest.Tensor(layout.F32, h*w)
	x := random(rand.New(rand.NewPCG(7, 8)), h*w)
	axes, err := layout.Collapse([]int{w, h}, []int{1, w}, []int{h, 1})
	if err != nil {
		t.Fatal(err)
	}
	alone(t, "transpose", in, out, x, &move.Copy{Axes: axes, In: in, Out: out}, func(i int) float64 { return float64(x[i%h*w+i/h]) })
}

// TestKeysAreValues: nothing that the code of a kernel depends on is behind a pointer, so
// that equal keys have equal code.
func TestKeysAreValues(t *testing.T) {
	for _, key := range []kernel.Key{
		gemm.Key{}, window.Key{}, elementwise.Key{}, move.CopyKey{}, move.FillKey{}, move.GatherKey{}, reduce.SoftmaxKey{}, reduce.MeanKey{},
	} {
		if where := shared(reflect.TypeOf(key)); where != "" {
			t.Errorf("%T: %s", key, where)
		}
	}
	if shared(reflect.TypeOf(struct{ n *int }{})) == "" || shared(reflect.TypeOf(struct{ s [2][]int }{})) == "" {
		t.Error("a pointer is not seen")
	}
}

// shared names a field of a type that can share what it refers to.
func shared(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if where := shared(t.Field(i).Type); where != "" {
				return t.Field(i).Name + " " + where
			}
		}
	case reflect.Array:
		return shared(t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
		return "is a " + t.Kind().String()
	}
	return ""
}
