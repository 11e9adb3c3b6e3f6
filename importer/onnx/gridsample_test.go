package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// mirrored reflects a place at both ends until it is inside.
func mirrored(v, low, high float64) float64 {
	for high > low && (v < low || v > high) {
		if v < low {
			v = 2*low - v
		} else {
			v = 2*high - v
		}
	}
	return v
}

// sampled is one result of GridSample on an image [h, w] by its definition.
func sampled(image []float32, h, w int, x, y float64, mode, padding string, corners bool) float64 {
	low, place := -0.5, [2]float64{y, x}
	sizes := [2]int{h, w}
	for k, n := range sizes {
		v := ((place[k]+1)*float64(n) - 1) / 2
		if corners {
			v = (place[k] + 1) / 2 * float64(n-1)
			low = 0
		}
		if mode == "nearest" {
			v = math.RoundToEven(v)
		}
		switch {
		case padding == "border" && mode != "cubic": // as PyTorch and ONNX Runtime: pixels beyond the border count
			v = min(max(v, 0), float64(n-1))
		case padding == "reflection":
			v = mirrored(v, low, float64(n-1)-low)
		}
		place[k] = v
	}
	pixel := func(r, c int) float64 {
		at := [2]int{r, c}
		for k, n := range sizes {
			switch {
			case at[k] >= 0 && at[k] < n:
			case padding == "zeros":
				return 0
			case padding == "border":
				at[k] = min(max(at[k], 0), n-1)
			default:
				at[k] = int(mirrored(float64(at[k]), low, float64(n-1)-low))
			}
		}
		return float64(image[at[0]*w+at[1]])
	}
	weight := func(d float64) float64 {
		d = math.Abs(d)
		switch {
		case mode == "nearest":
			return map[bool]float64{true: 1}[d == 0]
		case mode == "linear":
			return max(1-d, 0)
		case d <= 1:
			return (1.25*d-2.25)*d*d + 1
		case d < 2:
			return -0.75 * (((d-5)*d+8)*d - 4)
		}
		return 0
	}
	sum := 0.0
	r0, c0 := int(math.Floor(place[0])), int(math.Floor(place[1]))
	for r := r0 - 1; r <= r0+2; r++ {
		for c := c0 - 1; c <= c0+2; c++ {
			sum += weight(place[0]-float64(r)) * weight(place[1]-float64(c)) * pixel(r, c)
		}
	}
	return sum
}

// TestGridSample compares every mode, padding and alignment with the definition, at places inside and far outside.
func TestGridSample(t *testing.T) {
	const n, channels, h, w, rows, columns = 2, 2, 3, 4, 3, 5
	image, grid := pattern(n*channels*h*w), make([]float32, n*rows*columns*2)
	for i := range grid {
		grid[i] = float32(i*37%101-50)/30 + 0.013
	}
	text := func(name, v string) *onnxfile.Attribute {
		return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeString, String: v}
	}
	for _, mode := range []string{"nearest", "linear", "cubic"} {
		for _, padding := range []string{"zeros", "border", "reflection"} {
			for _, corners := range []bool{false, true} {
				want := make([]float64, 0, n*channels*rows*columns)
				for b := range n {
					for c := range channels {
						for p := range rows * columns {
							at := (b*rows*columns + p) * 2
							want = append(want, sampled(image[(b*channels+c)*h*w:], h, w, float64(grid[at]), float64(grid[at+1]), mode, padding, corners))
						}
					}
				}
				align := map[bool]int64{true: 1}[corners]
				node := node("GridSample", []string{"x", "g"}, []string{"y"}, text("mode", mode), text("padding_mode", padding), intAttribute("align_corners", align))
				got := one(t, node, []*onnxfile.Value{value32("x", n, channels, h, w), value32("g", n, rows, columns, 2)}, image, grid)
				near(t, fmt.Sprint("GridSample ", mode, " ", padding, " ", corners), want, got)
			}
		}
	}
}

// TestGridSampleOfVolumes: a volume of one plane, or of one row in each plane, is sampled as the image that it is, and between
// two planes lies their mean.
func TestGridSampleOfVolumes(t *testing.T) {
	const channels, h, w, places = 2, 3, 4, 6
	image, flat := pattern(channels*h*w), make([]float32, places*2)
	for i := range flat {
		flat[i] = float32(i*37%101-50)/45 + 0.013
	}
	across, along := make([]float32, 0, places*3), make([]float32, 0, places*3) // x, y, z
	for p := range places {
		x, y := flat[2*p], flat[2*p+1]
		across, along = append(across, x, y, 0), append(along, x, 0, y)
	}
	text := func(name, v string) *onnxfile.Attribute {
		return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeString, String: v}
	}
	for _, mode := range []string{"nearest", "linear"} {
		for _, padding := range []string{"zeros", "border", "reflection"} {
			node := node("GridSample", []string{"x", "g"}, []string{"y"}, text("mode", mode), text("padding_mode", padding))
			want := one(t, node, []*onnxfile.Value{value32("x", 1, channels, h, w), value32("g", 1, 1, places, 2)}, image, flat)
			volume := []*onnxfile.Value{value32("x", 1, channels, 1, h, w), value32("g", 1, 1, 1, places, 3)}
			near(t, mode+" "+padding+" of one plane", want, one(t, node, volume, image, across))
			volume[0] = value32("x", 1, channels, h, 1, w)
			near(t, mode+" "+padding+" of rows", want, one(t, node, volume, image, along))
		}
	}
	middle := one(t, node("GridSample", []string{"x", "g"}, []string{"y"}), []*onnxfile.Value{value32("x", 1, 1, 2, 1, 1), value32("g", 1, 1, 1, 1, 3)}, []float32{2, 5}, []float32{0, 0, 0})
	near(t, "between two planes", []float64{3.5}, middle)
}

// TestAffineGrid turns the centers of pixels, and their corners, by a matrix.
func TestAffineGrid(t *testing.T) {
	theta := []float32{1, 0.5, 0.25, -0.5, 2, -1}
	for align, xs := range [2][]float64{{-2.0 / 3, 0, 2.0 / 3}, {-1, 0, 1}} {
		var want []float64
		for _, y := range [2][]float64{{-0.5, 0.5}, {-1, 1}}[align] {
			for _, x := range xs {
				want = append(want, x+0.5*y+0.25, -0.5*x+2*y-1)
			}
		}
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("t", 1, 2, 3)}, Outputs: []*onnxfile.Value{value32("y")},
			Initializers: []*onnxfile.Tensor{{Name: "s", Type: onnxfile.Int64, Dims: []int64{4}, Int64s: []int64{1, 1, 2, 3}}},
			Nodes:        []*onnxfile.Node{node("AffineGrid", []string{"t", "s"}, []string{"y"}, intAttribute("align_corners", int64(align)))}}
		m := require.V(importFile(model(g, 20), nil))(t)
		near(t, "AffineGrid", want, numbers(nn.TensorFloat32, require.V(execute(m, [][]byte{floats32(theta...)}))(t)[0]))
	}
}
