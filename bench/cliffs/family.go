package cliffs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// Format is the elements of a walk.
type Format string

// Formats.
const (
	Quant8  Format = "u8"
	Float32 Format = "f32"
)

// Formats are all formats.
func Formats() []Format { return []Format{Quant8, Float32} }

func (f Format) builder() builder.Format {
	if f == Float32 {
		return builder.Float32
	}
	return builder.Quant8
}

// Point is a value per parameter of a family.
type Point map[string]uint32

// Family is operations that differ in their parameters alone.
type Family struct {
	Name string
	// From is the point that the walk along each axis starts from.
	From  Point
	Axes  []Axis
	build func(b *builder.Builder, p Point) builder.Tensor
}

// Axis is values of a parameter, ascending.
type Axis struct {
	Parameter string
	Values    []uint32
}

// Families are the operations of a walk.
func Families() []Family { return slices.Clone(families) }

// around are the powers of two up to a limit and their neighbours, from the first on.
func around(first, last uint32) (list []uint32) {
	for n := first; n <= last; n *= 2 {
		if n > first && !slices.Contains(list, n-1) {
			list = append(list, n-1)
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
		if n < last {
			list = append(list, n+1)
		}
	}
	return list
}

func conv(kernel, stride uint32) func(*builder.Builder, Point) builder.Tensor {
	return func(b *builder.Builder, p Point) builder.Tensor {
		return b.Conv(b.Values("x", p["batch"], p["plane"], p["plane"], p["in"]), builder.Conv{Out: p["out"], Kernel: kernel, Stride: stride, Act: builder.ReLU6})
	}
}

func convWindow(b *builder.Builder, p Point) builder.Tensor {
	return b.Conv(b.Values("x", 1, 28, 28, 32), builder.Conv{Out: 32, Kernel: p["window"], Act: builder.ReLU6})
}

func depthwise(b *builder.Builder, p Point) builder.Tensor {
	return b.Depthwise(b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"]),
		builder.Conv{Kernel: p["window"], Stride: p["stride"], Act: builder.ReLU6})
}

func pool(layer func(*builder.Builder, builder.Tensor, builder.Pool) builder.Tensor) func(*builder.Builder, Point) builder.Tensor {
	return func(b *builder.Builder, p Point) builder.Tensor {
		if p["window"] > p["plane"] {
			return layer(b, b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"]), builder.Pool{Window: p["plane"], Valid: true})
		}
		return layer(b, b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"]), builder.Pool{Window: p["window"], Stride: p["window"], Valid: true})
	}
}

func wholePool(layer func(*builder.Builder, builder.Tensor, builder.Pool) builder.Tensor) func(*builder.Builder, Point) builder.Tensor {
	return func(b *builder.Builder, p Point) builder.Tensor {
		return layer(b, b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"]), builder.Pool{Window: p["plane"], Valid: true})
	}
}

func mean(b *builder.Builder, p Point) builder.Tensor {
	x := b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"])
	return b.Apply(nn.OpMean, b.Type(), quantOf(b), x, b.Ints(1, 2), b.Int32(1))
}

// quantOf is the scale of inputs.
func quantOf(b *builder.Builder) builder.Quant {
	if b.Format == builder.Float32 {
		return builder.Quant{}
	}
	return builder.Quant{Scale: 1.0 / 128, ZeroPoint: 128}
}

func resize(op nn.OperationType) func(*builder.Builder, Point) builder.Tensor {
	return func(b *builder.Builder, p Point) builder.Tensor {
		x := b.Values("x", 1, p["plane"], p["plane"], p["channels"])
		to := b.Int32(int32(p["to"]))
		return b.Apply(op, b.Type(), quantOf(b), x, to, to, b.Bool(false))
	}
}

func elementwise(b *builder.Builder, p Point) builder.Tensor {
	return b.Add(b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"]), b.Values("y", p["batch"], p["plane"], p["plane"], p["channels"]), builder.NoActivation)
}

func unary(op nn.OperationType, q builder.Quant, more ...func(*builder.Builder) builder.Tensor) func(*builder.Builder, Point) builder.Tensor {
	return func(b *builder.Builder, p Point) builder.Tensor {
		in := []builder.Tensor{b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"])}
		for _, f := range more {
			in = append(in, f(b))
		}
		to := q
		if b.Format == builder.Float32 {
			to = builder.Quant{}
		} else if q.Scale == 0 {
			to = quantOf(b)
		}
		return b.Apply(op, b.Type(), to, in...)
	}
}

func dense(b *builder.Builder, p Point) builder.Tensor {
	return b.Dense(b.Values("x", p["batch"], p["in"]), p["units"], builder.NoActivation)
}

func softmax(b *builder.Builder, p Point) builder.Tensor {
	return b.Softmax(b.Values("x", p["batch"], p["units"]))
}

func concatenation(b *builder.Builder, p Point) builder.Tensor {
	return b.Concat(b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"]), b.Values("y", p["batch"], p["plane"], p["plane"], p["channels"]))
}

func transposition(b *builder.Builder, p Point) builder.Tensor {
	return b.Transpose(b.Values("x", p["batch"], p["plane"], p["plane"], p["channels"]), 0, 3, 1, 2)
}

func image() []Axis {
	return []Axis{{"plane", around(4, 128)}, {"channels", around(4, 512)}, {"batch", around(1, 8)}}
}

var imageFrom = Point{"plane": 28, "channels": 64, "batch": 1}

func with(p Point, more Point) Point {
	q := Point{}
	for k, v := range p {
		q[k] = v
	}
	for k, v := range more {
		q[k] = v
	}
	return q
}

var families = []Family{
	{"CONV_2D 1x1", Point{"plane": 14, "in": 256, "out": 256, "batch": 1}, []Axis{{"plane", around(2, 64)}, {"in", around(4, 2048)}, {"out", around(4, 2048)}, {"batch", around(1, 8)}}, conv(1, 1)},
	{"CONV_2D 3x3", Point{"plane": 14, "in": 128, "out": 128, "batch": 1}, []Axis{{"plane", around(2, 64)}, {"in", around(4, 1024)}, {"out", around(4, 1024)}, {"batch", around(1, 8)}}, conv(3, 1)},
	{"CONV_2D 3x3 deep", Point{"plane": 7, "in": 512, "out": 512, "batch": 1}, []Axis{{"in", []uint32{512, 640, 768, 832, 896, 1024, 2048}}}, conv(3, 1)},
	{"CONV_2D 3x3/2", Point{"plane": 28, "in": 64, "out": 64, "batch": 1}, []Axis{{"plane", around(4, 128)}, {"in", around(1, 256)}, {"out", around(4, 256)}}, conv(3, 2)},
	{"CONV_2D windows", Point{"window": 3}, []Axis{{"window", []uint32{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17}}}, convWindow},
	{"DEPTHWISE_CONV_2D", with(imageFrom, Point{"window": 3, "stride": 1}), append(image(), Axis{"window", []uint32{1, 2, 3, 4, 5, 7, 8, 9, 16}}, Axis{"stride", []uint32{1, 2, 3, 4}}), depthwise},
	{"AVERAGE_POOL_2D", Point{"plane": 64, "channels": 32, "batch": 1, "window": 2}, []Axis{{"window", around(2, 64)}, {"channels", around(4, 256)}, {"batch", around(1, 8)}}, pool((*builder.Builder).AveragePool)},
	{"MAX_POOL_2D", Point{"plane": 64, "channels": 32, "batch": 1, "window": 2}, []Axis{{"window", around(2, 64)}, {"channels", around(4, 256)}, {"batch", around(1, 8)}}, pool((*builder.Builder).MaxPool)},
	{"AVERAGE_POOL_2D whole", Point{"plane": 14, "channels": 64, "batch": 1}, []Axis{{"plane", slices.Concat(around(2, 32), []uint32{40, 41, 56, 63, 64, 65, 112})}, {"channels", around(4, 1024)}, {"batch", around(1, 8)}}, wholePool((*builder.Builder).AveragePool)},
	{"MAX_POOL_2D whole", Point{"plane": 14, "channels": 64, "batch": 1}, []Axis{{"plane", slices.Concat(around(2, 32), []uint32{40, 41, 56, 63, 64, 65, 112})}, {"channels", around(4, 1024)}, {"batch", around(1, 8)}}, wholePool((*builder.Builder).MaxPool)},
	{"MEAN", Point{"plane": 14, "channels": 64, "batch": 1}, []Axis{{"plane", slices.Concat(around(2, 32), []uint32{40, 41, 56, 63, 64, 65, 112})}, {"channels", around(4, 1024)}, {"batch", around(1, 8)}}, mean},
	{"RESIZE_BILINEAR", Point{"plane": 32, "channels": 32, "to": 64}, []Axis{{"to", []uint32{33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 513}}, {"channels", slices.Concat(around(1, 16), []uint32{20, 21, 31, 32, 33, 63, 64, 65, 128})}}, resize(nn.OpResizeBilinear)},
	{"RESIZE_NEAREST_NEIGHBOR", Point{"plane": 32, "channels": 32, "to": 64}, []Axis{{"to", []uint32{33, 63, 64, 65, 127, 128, 129, 255, 256, 257}}, {"channels", slices.Concat(around(1, 16), []uint32{20, 21, 31, 32, 33, 63, 64, 65, 128})}}, resize(nn.OpResizeNearestNeighbor)},
	{"FULLY_CONNECTED", Point{"in": 1024, "units": 1024, "batch": 1}, []Axis{{"in", around(8, 4096)}, {"units", around(1, 4096)}, {"batch", around(1, 64)}}, dense},
	{"SOFTMAX", Point{"units": 1024, "batch": 1}, []Axis{{"units", around(2, 16384)}, {"batch", around(1, 256)}}, softmax},
	{"ADD", imageFrom, image(), elementwise},
	{"LOGISTIC", imageFrom, image(), unary(nn.OpLogistic, builder.Quant{Scale: 1.0 / 256})},
	{"RELU", imageFrom, image(), unary(nn.OpRelu, builder.Quant{})},
	{"CONCATENATION", imageFrom, image(), concatenation},
	{"TRANSPOSE to NCHW", imageFrom, image(), transposition},
}

// Model builds an operation at a point.
func (f *Family) Model(p Point, format Format) (*nn.Model, error) {
	b := builder.New(builder.Config{Format: format.builder()})
	b.Output(f.build(b, p), "y")
	m, err := b.Model(f.Name + " " + p.String())
	if err != nil {
		return nil, fmt.Errorf("cliffs: %s at %v: %w", f.Name, p, err)
	}
	return m, nil
}

// String lists the parameters in their order by name.
func (p Point) String() string {
	var keys []string
	for k := range p {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s=%d", k, p[k])
	}
	return strings.Join(keys, " ")
}
