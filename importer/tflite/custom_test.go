package tflite

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// poolOf are options of MediaPipe's poolings: padding, stride and window as width and height,
// activation.
func poolOf(padding, strideW, strideH, width, height, activation int32) []byte {
	var b []byte
	for _, v := range []int32{padding, strideW, strideH, width, height, activation, 0, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// poolCases are poolings whose places are known, and their inverse.
var poolCases = []opCase{
	// The first of equal elements; two channels.
	{op: "MaxPoolingWithArgmax2D", custom: poolOf(2, 2, 2, 2, 2, 0),
		in:  []arg{f32(dims(1, 2, 4, 2), 1, 0, 5, 0, 2, -4, 2, -3, 3, 9, 4, 0, 2, -2, 2, -1)},
		out: []arg{f32(dims(1, 1, 2, 2), 5, 9, 2, -1), f32(dims(1, 1, 2, 2), 1.1, 2.1, 0.1, 3.1)}},
	// SAME with a column and a row of padding behind, an activation, windows that overlap.
	{op: "MaxPoolingWithArgmax2D", custom: poolOf(1, 2, 1, 2, 2, 1),
		in:  []arg{f32(dims(1, 2, 3, 1), -1, -2, -3, -4, -5, 6)},
		out: []arg{f32(dims(1, 2, 2, 1), 0, 6, 0, 6), f32(dims(1, 2, 2, 1), 0.1, 2.1, 0.1, 0.1)}},
	{op: "MaxUnpooling2D", custom: poolOf(2, 2, 3, 2, 3, 0),
		in:  []arg{f32(dims(1, 1, 2, 2), 5, 9, 2, -1), f32(dims(1, 1, 2, 2), 1.1, 2.1, 5.1, 0.1)},
		out: []arg{f32(dims(1, 3, 4, 2), 0, 0, 5, 0, 0, -1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0)}},
	{op: "MaxUnpooling2D", custom: poolOf(1, 2, 2, 2, 2, 0),
		in:  []arg{f32(dims(2, 2, 1, 1), 1, 2, 3, 4), f32(dims(2, 2, 1, 1), 3.1, 0.1, 1.1, 2.1)},
		out: []arg{f32(dims(2, 4, 2, 1), 0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0)}},
}

// affineOf is a 4x4 matrix that moves points of a plane.
func affineOf(m [2][3]float64) []float64 {
	return []float64{m[0][0], m[0][1], 0, m[0][2], m[1][0], m[1][1], 0, m[1][2], 0, 0, 1, 0, 0, 0, 0, 1}
}

// landmarkCases compare with the definitions: angles by math.Atan and math.Atan2, samples one by
// one.
func landmarkCases() (list []opCase) {
	m := [2][3]float64{{0.8, -0.5, 0.3}, {0.4, 1.1, -0.2}}
	matrix := f32(dims(1, 4, 4), affineOf(m)...)
	move := func(x, y float64) (float64, float64) {
		return m[0][0]*x + m[0][1]*y + m[0][2], m[1][0]*x + m[1][1]*y + m[1][2]
	}
	points := []float64{1, 2, 7, 3, 5, 8, -2, 0.5, 9}
	var three, two, scaled []float64
	for i := 0; i < len(points); i += 3 {
		x, y := move(points[i], points[i+1])
		three, two = append(three, x, y, points[i+2]), append(two, x, y)
		scaled = append(scaled, x+9*m[0][2], y+9*m[1][2], points[i+2])
	}
	flat := []float64{1, 2, 3, 5, -2, 0.5}
	list = append(list,
		opCase{op: "TransformLandmarks", version: 2, in: []arg{f32(dims(1, 3, 3), points...), matrix}, out: []arg{f32(dims(1, 3, 3), three...)}},
		opCase{op: "TransformLandmarks", version: 2, in: []arg{f32(dims(1, 3, 2), flat...), matrix}, out: []arg{f32(dims(1, 3, 2), two...)}},
		opCase{op: "TransformLandmarks", version: 1, custom: tflitefile.FlexMap(map[string]float32{"dimensions": 3, "scale": 10}, nil),
			in: []arg{f32(dims(1, 1, 1, 9), points...), matrix}, out: []arg{f32(dims(1, 1, 1, 9), scaled...)}})

	image := make([]float64, 4*5*2)
	for i := range image {
		image[i] = float64(i*i%17) - 5
	}
	sampled := func(h, w int, centre float64) (y []float64) {
		for i := range h * w {
			x, v := move(float64(i%w)+centre, float64(i/w)+centre)
			x, v = x-centre, v-centre
			for ch := range 2 {
				sum := 0.0
				if x >= 0 && x <= 4 && v >= 0 && v <= 3 {
					for k := range 4 {
						cx, cy := math.Floor(x)+float64(k%2), math.Floor(v)+float64(k/2)
						if cx <= 4 && cy <= 3 {
							sum += (1 - math.Abs(x-cx)) * (1 - math.Abs(v-cy)) * image[(int(cy)*5+int(cx))*2+ch]
						}
					}
				}
				y = append(y, sum)
			}
		}
		return y
	}
	list = append(list,
		opCase{op: "TransformTensorBilinear", version: 2, custom: tflitefile.FlexMap(map[string]float32{"output_height": 4, "output_width": 6}, nil),
			in: []arg{f32(dims(1, 4, 5, 2), image...), matrix}, out: []arg{f32(dims(1, 4, 6, 2), sampled(4, 6, 0.5)...)}},
		opCase{op: "TransformTensor", version: 1, custom: tflitefile.FlexMap(nil, map[string][]int32{"output_size": {4, 6}}),
			in: []arg{f32(dims(1, 4, 5, 2), image...), matrix}, out: []arg{f32(dims(1, 4, 6, 2), sampled(4, 6, 0)...)}})

	faces := [][]float64{
		{10, 20, 0, 50, 28, 0, 22, 60, 0, 31, 12, 0},
		{50, 28, 0, 10, 20, 0, 22, 60, 0, 31, 12, 0}, // more than a quarter turn
		{10, 20, 0, 10, 60, 0, 22, 60, 0, 31, 12, 0}, // a quarter turn
	}
	for _, face := range faces {
		list = append(list,
			opCase{op: "Landmarks2TransformMatrix", version: 1,
				custom: tflitefile.FlexMap(map[string]float32{"dimensions": 3, "landmarks_range": 64, "bbox_size_multiplier": 1.5, "left_rotation_idx": 0, "right_rotation_idx": 1},
					map[string][]int32{"input_hw": {24, 32}, "output_hw": {8, 12}, "subset": {0, 2, 3}}),
				in: []arg{f32(dims(1, 1, 1, 12), face...)}, out: []arg{f32(dims(1, 4, 4), relativeCrop(face)...)}})
		for _, target := range []float64{0, 0.4} {
			list = append(list, opCase{op: "Landmarks2TransformMatrix", version: 2,
				custom: tflitefile.FlexMap(map[string]float32{"left_rotation_idx": 0, "right_rotation_idx": 1, "target_rotation_radians": float32(target),
					"output_height": 8, "output_width": 12, "scale_x": 1.5, "scale_y": 1.25}, map[string][]int32{"subset_idxs": {0, 2, 3}}),
				in: []arg{f32(dims(1, 4, 3), face...)}, out: []arg{f32(dims(1, 4, 4), crop(face, target)...)}})
		}
	}
	return list
}

// boundsOf are the size and the middle of landmarks 0, 2 and 3 turned by an angle; the middle is
// turned back.
func boundsOf(face []float64, angle float64) (width, height, mx, my float64) {
	sin, cos := math.Sincos(angle)
	var xs, ys []float64
	for _, i := range []int{0, 2, 3} {
		x, y := face[3*i], face[3*i+1]
		xs, ys = append(xs, x*cos-y*sin), append(ys, x*sin+y*cos)
	}
	mx, my = (slices.Max(xs)+slices.Min(xs))/2, (slices.Max(ys)+slices.Min(ys))/2
	return slices.Max(xs) - slices.Min(xs), slices.Max(ys) - slices.Min(ys), mx*cos + my*sin, my*cos - mx*sin
}

// productOf multiplies matrices that move points of a plane.
func productOf(list ...[2][3]float64) (m [2][3]float64) {
	m = [2][3]float64{{1, 0, 0}, {0, 1, 0}}
	for _, x := range list {
		var y [2][3]float64
		for r := range y {
			for k := range y[r] {
				y[r][k] = m[r][0]*x[0][k] + m[r][1]*x[1][k]
			}
			y[r][2] += m[r][2]
		}
		m = y
	}
	return m
}

// crop is the matrix of version 2: to the middle, turned, scaled, from the middle of the crop.
func crop(face []float64, target float64) []float64 {
	turn := float64(float32(target)) - math.Atan2(face[4]-face[1], face[3]-face[0])
	width, height, mx, my := boundsOf(face, turn)
	sin, cos := math.Sincos(-turn)
	return affineOf(productOf([2][3]float64{{1, 0, mx}, {0, 1, my}}, [2][3]float64{{cos, -sin, 0}, {sin, cos, 0}},
		[2][3]float64{{1.5 * width / 12, 0, 0}, {0, 1.25 * height / 8, 0}}, [2][3]float64{{1, 0, -6}, {0, 1, -4}}))
}

// relativeCrop is the matrix of version 1.
func relativeCrop(face []float64) []float64 {
	turn := -math.Atan((face[4] - face[1]) / (face[3] - face[0]))
	width, height, mx, my := boundsOf(face, turn)
	sin, cos := math.Sincos(-turn)
	return affineOf(productOf([2][3]float64{{15.5, 0, 15.5}, {0, 11.5, 11.5}}, [2][3]float64{{cos, -sin, 2*mx/64 - 1}, {sin, cos, 2*my/64 - 1}},
		[2][3]float64{{1.5 * width / 64, 0, 0}, {0, 1.5 * height / 64, 0}}, [2][3]float64{{2. / 11, 0, -1}, {0, 2. / 7, -1}}))
}

// TestComposedOnDevices: the compositions of custom operators and of the Fourier transform run on the devices of a
// phone, whole on the GPU, which computes with reals. Only 16-bit tensors of networks are the CPU's to convert
// (D-1347).
func TestComposedOnDevices(t *testing.T) {
	config := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(config, hal.FastSingleAnswer))(t)
	registry := require.V(registry.New(list[0], list[1:]...))(t)
	for _, device := range []string{"gpu", "dsp", "npu"} {
		run := func(t *testing.T, m *nn.Model, given [][]byte) (results []refcpu.Tensor) {
			p := require.V(nnrt.Compile(registry, m, device, nnrt.CompileOptions{}))(t)
			for _, f := range p.Fallbacks {
				if device == "gpu" && !strings.HasSuffix(m.Main.Operations[f.Operation].Type.String(), "QUANTIZE_16") {
					t.Errorf("operation %d: %s", f.Operation, f.Reason)
				}
			}
			r := require.V(p.Execute(given, nnrt.ExecuteOptions{}))(t)
			for i := range r.Outputs {
				results = append(results, refcpu.Tensor{Dimensions: r.Dimensions[i], Data: r.Outputs[i]})
			}
			return results
		}
		for _, c := range slices.Concat(customCases, poolCases, landmarkCases()) {
			t.Run(device+"/"+c.op, func(t *testing.T) {
				m := open(t, c.file(), nil)
				c.compare(t, m, run(t, m, c.given()), 1e-4)
			})
		}
		for _, op := range []string{"COMPLEX_ABS", "REAL", "IMAG"} {
			t.Run(device+"/RFFT2D and "+op, func(t *testing.T) {
				m := open(t, spectrum(op, 3, 9, [2]int32{4, 16}), nil)
				x := f32(dims(2, 3, 9))
				for i := range 2 * 3 * 9 {
					x.values = append(x.values, float64(i*i%31)/8-2)
				}
				given := [][]byte{x.bytes()}
				want, got := floatsOf(execute(t, m, given)[0].Data), floatsOf(run(t, m, given)[0].Data)
				if len(got) != len(want) {
					t.Fatalf("%d elements, want %d", len(got), len(want))
				}
				for i := range want {
					require.Check(t, math.Abs(float64(got[i]-want[i])) <= 5e-4, "element %d is %v, want %v", i, got[i], want[i])
				}
			})
		}
	}
}

// TestCustomRefusals: invalid options are errors, forms without a composition are refused by name.
func TestCustomRefusals(t *testing.T) {
	x := f32(dims(1, 2, 2, 1), 1, 2, 3, 4)
	matrix := f32(dims(1, 4, 4), make([]float64, 16)...)
	for _, c := range []struct {
		opCase
		refused bool
	}{
		{opCase{op: "MaxPoolingWithArgmax2D", custom: make([]byte, 20), in: []arg{x}, out: []arg{x, x}}, false},
		{opCase{op: "MaxPoolingWithArgmax2D", custom: poolOf(0, 1, 1, 1, 1, 0), in: []arg{x}, out: []arg{x, x}}, false},
		{opCase{op: "MaxPoolingWithArgmax2D", custom: poolOf(2, 1, 1, 3, 3, 0), in: []arg{x}, out: []arg{x, x}}, false},
		{opCase{op: "MaxPoolingWithArgmax2D", custom: poolOf(1, 1, 1, 9, 9, 0), in: []arg{x}, out: []arg{x, x}}, true},
		{opCase{op: "MaxPoolingWithArgmax2D", custom: poolOf(1, 1, 1, 1, 1, 4), in: []arg{x}, out: []arg{x, x}}, true},
		{opCase{op: "MaxUnpooling2D", custom: poolOf(2, 1, 1, 2, 2, 0), in: []arg{x, x}, out: []arg{x}}, true},
		{opCase{op: "TransformTensorBilinear", version: 2, custom: tflitefile.FlexMap(map[string]float32{"output_height": 4}, nil), in: []arg{x, matrix}, out: []arg{x}}, false},
		{opCase{op: "TransformTensorBilinear", version: 3, in: []arg{x, matrix}, out: []arg{x}}, true},
		{opCase{op: "TransformLandmarks", version: 2, in: []arg{x, matrix}, out: []arg{x}}, true},
		{opCase{op: "TransformLandmarks", version: 2, in: []arg{f32(dims(1, 1, 2), 1, 2), x}, out: []arg{f32(dims(1, 1, 2), 1, 2)}}, true},
		{opCase{op: "Landmarks2TransformMatrix", version: 2,
			custom: tflitefile.FlexMap(map[string]float32{"left_rotation_idx": 4, "right_rotation_idx": 1}, map[string][]int32{"subset_idxs": {0}}),
			in:     []arg{f32(dims(1, 1, 3), 1, 2, 3)}, out: []arg{matrix}}, false},
	} {
		var refused *Unsupported
		_, err := Import(c.file(), nil)
		if err == nil || errors.As(err, &refused) != c.refused {
			t.Errorf("%s version %d %v: %v, refused by name: want %v", c.op, c.version, c.custom, err, c.refused)
		}
	}
}
