package gpudriver

import (
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

type convCase struct {
	n, h, w, c, k, kh, kw, sh, sw, dh, dw int
	top, bottom, left, right              int
	act                                   int32
	mult                                  int // depthwise when > 0
}

func (c *convCase) outDims() (int, int) {
	out := func(in, k, s, d, p int) int { return (in+p-(k-1)*d-1)/s + 1 }
	return out(c.h, c.kh, c.sh, c.dh, c.top+c.bottom), out(c.w, c.kw, c.sw, c.dw, c.left+c.right)
}

func activate(act int32, x float64) float64 {
	switch act {
	case 1:
		return max(x, 0)
	case 2:
		return min(max(x, -1), 1)
	case 3:
		return min(max(x, 0), 6)
	}
	return x
}

// reference is the convolution in float64.
func (c *convCase) reference(x, w, b []float32) []float64 {
	oh, ow := c.outDims()
	var out []float64
	for n := range c.n {
		for oy := range oh {
			for ox := range ow {
				for k := range c.k {
					s := 0.0
					for ky := range c.kh {
						for kx := range c.kw {
							y, xx := oy*c.sh-c.top+ky*c.dh, ox*c.sw-c.left+kx*c.dw
							if y < 0 || y >= c.h || xx < 0 || xx >= c.w {
								continue
							}
							if c.mult > 0 {
								s += float64(x[((n*c.h+y)*c.w+xx)*c.c+k/c.mult]) * float64(w[(ky*c.kw+kx)*c.k+k])
								continue
							}
							for ch := range c.c {
								s += float64(x[((n*c.h+y)*c.w+xx)*c.c+ch]) * float64(w[((k*c.kh+ky)*c.kw+kx)*c.c+ch])
							}
						}
					}
					out = append(out, activate(c.act, s+float64(b[k])))
				}
			}
		}
	}
	return out
}

func (c *convCase) build(t nn.OperandType) (*modelBuilder, []float64) {
	b := newModel(t)
	x, xv := b.input(1, uint32(c.n), uint32(c.h), uint32(c.w), uint32(c.c))
	fd := []uint32{uint32(c.k), uint32(c.kh), uint32(c.kw), uint32(c.c)}
	depth := c.kh * c.kw * c.c
	if c.mult > 0 {
		fd = []uint32{1, uint32(c.kh), uint32(c.kw), uint32(c.k)}
		depth = c.kh * c.kw
	}
	w, wv := b.constant(float32(1/math.Sqrt(float64(depth))), fd...)
	bias, bv := b.constant(0.5, uint32(c.k))
	oh, ow := c.outDims()
	y := b.output(uint32(c.n), uint32(oh), uint32(ow), uint32(c.k))
	in := []uint32{x, w, bias, b.i32(int32(c.left)), b.i32(int32(c.right)), b.i32(int32(c.top)), b.i32(int32(c.bottom)),
		b.i32(int32(c.sw)), b.i32(int32(c.sh))}
	op := nn.OpConv2D
	if c.mult > 0 {
		in = append(in, b.i32(int32(c.mult)))
		op = nn.OpDepthwiseConv2D
	}
	in = append(in, b.i32(c.act))
	if c.dh > 1 || c.dw > 1 {
		nchw := b.operand(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{0}})
		in = append(in, nchw, b.i32(int32(c.dw)), b.i32(int32(c.dh)))
	}
	b.op(op, y, in...)
	return b, c.reference(xv, wv, bv)
}

var convCases = []convCase{
	{n: 1, h: 7, w: 5, c: 16, k: 32, kh: 1, kw: 1, sh: 1, sw: 1, dh: 1, dw: 1},
	{n: 1, h: 7, w: 5, c: 40, k: 70, kh: 1, kw: 1, sh: 1, sw: 1, dh: 1, dw: 1, act: 3},
	{n: 2, h: 6, w: 9, c: 8, k: 64, kh: 3, kw: 3, sh: 1, sw: 1, dh: 1, dw: 1, top: 1, bottom: 1, left: 1, right: 1, act: 1},
	{n: 1, h: 13, w: 11, c: 3, k: 33, kh: 3, kw: 3, sh: 2, sw: 2, dh: 1, dw: 1, top: 0, bottom: 1, left: 0, right: 1, act: 3},
	{n: 1, h: 9, w: 10, c: 16, k: 20, kh: 3, kw: 2, sh: 2, sw: 1, dh: 2, dw: 3, top: 2, bottom: 1, left: 0, right: 3, act: 2},
	{n: 1, h: 10, w: 4, c: 1, k: 8, kh: 10, kw: 4, sh: 2, sw: 2, dh: 1, dw: 1, top: 4, bottom: 5, left: 1, right: 1, act: 1},
	{n: 3, h: 4, w: 4, c: 5, k: 7, kh: 2, kw: 2, sh: 1, sw: 1, dh: 1, dw: 1},
	{n: 1, h: 1, w: 1, c: 64, k: 224, kh: 1, kw: 1, sh: 1, sw: 1, dh: 1, dw: 1},
	{n: 1, h: 5, w: 5, c: 8, k: 16, kh: 1, kw: 1, sh: 2, sw: 2, dh: 1, dw: 1},
}

var depthwiseCases = []convCase{
	{n: 1, h: 9, w: 7, c: 32, k: 32, kh: 3, kw: 3, sh: 1, sw: 1, dh: 1, dw: 1, top: 1, bottom: 1, left: 1, right: 1, act: 3, mult: 1},
	{n: 2, h: 8, w: 9, c: 40, k: 40, kh: 3, kw: 3, sh: 2, sw: 2, dh: 1, dw: 1, top: 0, bottom: 1, left: 1, right: 1, mult: 1},
	{n: 1, h: 9, w: 9, c: 7, k: 21, kh: 5, kw: 5, sh: 1, sw: 2, dh: 1, dw: 1, top: 2, bottom: 2, left: 2, right: 2, act: 1, mult: 3},
	{n: 1, h: 20, w: 3, c: 1, k: 8, kh: 7, kw: 3, sh: 3, sw: 1, dh: 2, dw: 1, top: 1, bottom: 0, left: 1, right: 1, mult: 8},
}

func testConv(t *testing.T, cases []convCase) {
	for i, c := range cases {
		for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
			t.Run(fmt.Sprintf("%d/%s", i, typ), func(t *testing.T) {
				b, want := c.build(typ)
				b.check(t, want)
			})
		}
		t.Run(fmt.Sprintf("%d/relaxed", i), func(t *testing.T) {
			b, want := c.build(nn.TensorFloat32)
			b.m.Relaxed = true
			b.check(t, want)
		})
	}
}

func TestConv(t *testing.T)      { testConv(t, convCases) }
func TestDepthwise(t *testing.T) { testConv(t, depthwiseCases) }

func TestFullyConnected(t *testing.T) {
	for i, c := range []struct{ batch, depth, units int }{{1, 64, 10}, {1, 1001, 40}, {5, 33, 65}, {40, 128, 128}, {2, 16, 7}, {3, 64, 33}} {
		for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
			t.Run(fmt.Sprintf("%d/%s", i, typ), func(t *testing.T) {
				b := newModel(typ)
				x, xv := b.input(1, uint32(c.batch), uint32(c.depth))
				w, wv := b.constant(float32(1/math.Sqrt(float64(c.depth))), uint32(c.units), uint32(c.depth))
				bias, bv := b.constant(1, uint32(c.units))
				y := b.output(uint32(c.batch), uint32(c.units))
				b.op(nn.OpFullyConnected, y, x, w, bias, b.i32(0))
				cc := convCase{n: c.batch, h: 1, w: 1, c: c.depth, k: c.units, kh: 1, kw: 1, sh: 1, sw: 1, dh: 1, dw: 1}
				b.check(t, cc.reference(xv, wv, bv))
			})
		}
	}
}

// TestInfiniteFilters: infinities and NaN of filters and images, known before or of run time, meet what is
// outside the image as in the reference: zeros in CONV_2D and GROUPED_CONV_2D, nothing in the others.
func TestInfiniteFilters(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
		for _, op := range []nn.OperationType{nn.OpConv2D, nn.OpGroupedConv2D, nn.OpDepthwiseConv2D, nn.OpTransposeConv2D} {
			for _, ch := range []uint32{2, 6, 8, 40} {
				for _, constant := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s/%s/%d/%t", typ, op, ch, constant), func(t *testing.T) {
						b := newModel(typ)
						x, xv := b.input(1, 1, 5, 6, ch)
						xv[17*ch] = inf
						dims := []uint32{ch, 3, 3, ch}
						switch op {
						case nn.OpGroupedConv2D:
							dims[3] = ch / 2
						case nn.OpDepthwiseConv2D:
							dims[0] = 1
						}
						add := b.input
						if constant {
							add = b.constant
						}
						w, wv := add(0.25, dims...)
						wv[0], wv[len(wv)-1], wv[len(wv)/2] = inf, float32(math.NaN()), -inf
						if constant {
							b.m.Main.Operands[w].Data = encode(typ, wv)
						}
						bias, _ := b.constant(1, ch)
						y := b.output(1, 5, 6, ch)
						nchw := b.operand(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{0}})
						in := []uint32{x, w, bias, b.i32(1), b.i32(1), b.i32(1), b.i32(1), b.i32(1), b.i32(1)}
						switch op {
						case nn.OpGroupedConv2D:
							in = append(in, b.i32(2), b.i32(0), nchw)
						case nn.OpDepthwiseConv2D:
							in = append(in, b.i32(1), b.i32(0), nchw)
						default:
							in = append(in, b.i32(0), nchw)
						}
						b.op(op, y, in...)
						b.checkReference(t)
					})
				}
			}
		}
	}
}
