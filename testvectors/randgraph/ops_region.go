package randgraph

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/x448/float16"
)

// encode is real values as the elements of an operand.
func encode(o *nn.Operand, values []float64) []byte {
	var b []byte
	for _, v := range values {
		switch o.Type {
		case nn.TensorFloat32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case nn.TensorFloat16:
			b = binary.LittleEndian.AppendUint16(b, float16.Fromfloat32(float32(v)).Bits())
		case nn.TensorQuant16Asymm:
			b = binary.LittleEndian.AppendUint16(b, uint16(min(max(math.Round(v/float64(o.Scale)), 0), 65535)))
		case nn.TensorQuant16Symm:
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(math.Round(v/float64(o.Scale)))))
		case nn.TensorInt32:
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
		}
	}
	return b
}

// given is a new operand with these values, a model input or a constant.
func (g *gen) given(o nn.Operand, values []float64) uint32 {
	o.Lifetime = nn.SubgraphInput
	if g.chance(50) {
		o.Lifetime = nn.ConstantCopy
	}
	return g.new(o, encode(&o, values), false)
}

// region is an operand of boxes: of type k, or 16 bits for an 8-bit k.
func region(k nn.OperandType, symmetric bool, dims ...int) nn.Operand {
	o := nn.Operand{Type: k}
	if !isFloat(k) {
		o.Type, o.Scale = nn.TensorQuant16Asymm, 0.125
		if symmetric {
			o.Type = nn.TensorQuant16Symm
		}
	}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	return o
}

// boxes draws n boxes (x1, y1, x2, y2) within width and height, in steps of 1/8.
func (g *gen) boxes(n int, width, height float64) []float64 {
	seed := g.choose(1 << 30)
	r := rand.New(rand.NewPCG(uint64(seed), 5))
	at := func(size float64) float64 {
		if seed == 0 {
			return 0
		}
		return float64(r.IntN(int(8*size)+1)) / 8
	}
	var v []float64
	for range n {
		x1, x2, y1, y2 := at(width), at(width), at(height), at(height)
		if seed == 0 {
			x2, y2 = width, height
		}
		v = append(v, min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
	}
	return v
}

// batchesOf draws n ascending batch indexes.
func (g *gen) batchesOf(n, batches int) uint32 {
	v := make([]float64, n)
	b := 0
	for i := range v {
		if b < batches-1 && g.chance(40) {
			b++
		}
		v[i] = float64(b)
	}
	return g.given(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(n)}}, v)
}

func makeRoi(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	x := g.shaped(k, rank4, func() []uint32 { return g.dims(4) })
	n, h, w, _ := image(g.at(x).Dimensions, nchw)
	rois := 1 + g.choose(5)
	stride := pick(g.source, 1., 2, 4, 0.5)
	r := g.given(region(k, false, rois, 4), g.boxes(rois, float64(w)*stride, float64(h)*stride))
	in := []uint32{x, r, g.batchesOf(rois, n), g.int32(1 + g.choose(5)), g.int32(1 + g.choose(5)), g.float(k, stride), g.float(k, stride)}
	o := g.out(op, k, x)
	if op == nn.OpRoiAlign {
		in = append(in, g.int32(g.choose(4)), g.int32(g.choose(4)))
	}
	return g.finish(op, append(in, g.bool(nchw)), o)
}

func makeHeatmap(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	n, size, points := 1+g.choose(5), 2+g.choose(10), 1+g.choose(6)
	d := []uint32{uint32(n), uint32(size), uint32(size), uint32(points)}
	if nchw {
		d[1], d[3] = d[3], d[1]
	}
	x := g.value(g.typed(k, d), filler{})
	b := g.given(region(k, false, n, 4), g.boxes(n, 20, 20))
	return g.finish(op, []uint32{x, b, g.bool(nchw)}, g.out(op, k, x), region(k, false))
}

func makeBoxTransform(g *gen, op nn.OperationType, k nn.OperandType) bool {
	rois, classes, n := 1+g.choose(5), 1+g.choose(4), 1+g.choose(3)
	r := g.given(region(k, false, rois, 4), g.boxes(rois, 100, 80))
	t := k
	if k == nn.TensorQuant16Asymm {
		t = pick(g.source, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned)
	}
	delta := g.typed(t, []uint32{uint32(rois), uint32(4 * classes)})
	if t != k {
		delta.Scale = 0.05
	}
	d := g.value(delta, filler{})
	b := g.batchesOf(rois, n)
	var sizes []float64
	for range n {
		sizes = append(sizes, 80, 100)
	}
	return g.finish(op, []uint32{r, d, b, g.given(region(k, false, n, 2), sizes)}, region(k, false))
}

func makeBoxNms(g *gen, op nn.OperationType, k nn.OperandType) bool {
	rois, classes, n := 1+g.choose(12), 1+g.choose(4), 1+g.choose(3)
	scores := g.value(g.typed(k, []uint32{uint32(rois), uint32(classes)}), filler{lo: 0.01, hi: 1})
	r := g.given(region(k, false, rois, 4*classes), g.boxes(rois*classes, 20, 20))
	kernel := g.choose(3)
	in := []uint32{scores, r, g.batchesOf(rois, n), g.float(k, g.real(0, 0.5)), g.int32(g.choose(10) - 1), g.int32(kernel),
		g.float(k, g.real(0.1, 0.9)), g.float(k, g.real(0.25, 1)), g.float(k, g.real(0, 0.3))}
	q := g.at(scores)
	i32 := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{0}}
	return g.finish(op, in, nn.Operand{Type: k, Dimensions: []uint32{0}, Scale: q.Scale, ZeroPoint: q.ZeroPoint}, region(k, false, 0, 4), i32, i32)
}

func makeProposals(g *gen, op nn.OperationType, k nn.OperandType) bool {
	nchw := g.layout()
	n, h, w, anchors := 1+g.choose(2), 1+g.choose(5), 1+g.choose(5), 1+g.choose(4)
	dims := func(c int) []uint32 {
		if nchw {
			return []uint32{uint32(n), uint32(c), uint32(h), uint32(w)}
		}
		return []uint32{uint32(n), uint32(h), uint32(w), uint32(c)}
	}
	scores := g.value(g.typed(k, dims(anchors)), filler{lo: 0.01, hi: 1})
	delta := g.typed(k, dims(4*anchors))
	if k.IsQuant8() {
		delta.Scale = 0.05
	}
	d := g.value(delta, filler{})
	a := g.given(region(k, true, anchors, 4), g.boxes(anchors, 20, 20))
	var sizes []float64
	for range n {
		sizes = append(sizes, 32, 32)
	}
	image := g.given(region(k, false, n, 2), sizes)
	in := []uint32{scores, d, a, image, g.float(k, g.real(1, 10)), g.float(k, g.real(1, 10)), g.int32(g.choose(20) - 1), g.int32(g.choose(20) - 1),
		g.float(k, g.real(0.1, 0.9)), g.float(k, g.real(0, 4)), g.bool(nchw)}
	q := g.at(scores)
	return g.finish(op, in, nn.Operand{Type: k, Dimensions: []uint32{0}, Scale: q.Scale, ZeroPoint: q.ZeroPoint}, region(k, false, 0, 4),
		nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{0}})
}

func makeDetection(g *gen, op nn.OperationType, k nn.OperandType) bool {
	n, anchors, classes, most := 1+g.choose(2), 1+g.choose(8), 2+g.choose(4), 1+g.choose(6)
	scores := g.value(nn.Operand{Type: k, Dimensions: []uint32{uint32(n), uint32(anchors), uint32(classes)}}, filler{lo: 0.01, hi: 1})
	delta := g.value(nn.Operand{Type: k, Dimensions: []uint32{uint32(n), uint32(anchors), uint32(4 + g.choose(3))}}, filler{lo: -1, hi: 1})
	a := g.value(nn.Operand{Type: k, Dimensions: []uint32{uint32(anchors), 4}}, filler{lo: 0.5, hi: 4})
	in := []uint32{scores, delta, a}
	for range 4 {
		in = append(in, g.float(k, g.real(1, 10)))
	}
	in = append(in, g.bool(g.chance(50)), g.int32(most), g.int32(1+g.choose(classes-1)), g.int32(1+g.choose(4)),
		g.float(k, g.real(0, 0.5)), g.float(k, g.real(0.1, 0.9)), g.bool(g.chance(50)))
	b, m := uint32(n), uint32(most)
	return g.finish(op, in, nn.Operand{Type: k, Dimensions: []uint32{b, m}}, nn.Operand{Type: k, Dimensions: []uint32{b, m, 4}},
		nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{b, m}}, nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{b}})
}
