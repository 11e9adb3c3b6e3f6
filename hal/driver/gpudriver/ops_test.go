package gpudriver

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// types runs a test in single, half and relaxed single precision.
func types(t *testing.T, name string, f func(t *testing.T, b *modelBuilder)) {
	t.Run(name+"/f32", func(t *testing.T) { f(t, newModel(nn.TensorFloat32)) })
	t.Run(name+"/f16", func(t *testing.T) { f(t, newModel(nn.TensorFloat16)) })
	t.Run(name+"/relaxed", func(t *testing.T) {
		b := newModel(nn.TensorFloat32)
		b.m.Relaxed = true
		f(t, b)
	})
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func TestPool(t *testing.T) {
	for i, c := range []convCase{
		{n: 1, h: 7, w: 7, c: 40, kh: 7, kw: 7, sh: 1, sw: 1},
		{n: 2, h: 9, w: 8, c: 3, kh: 3, kw: 2, sh: 2, sw: 2, top: 1, bottom: 1, left: 1, right: 0, act: 3},
		{n: 1, h: 5, w: 12, c: 33, kh: 2, kw: 5, sh: 1, sw: 2, left: 2, right: 2, act: 1},
		{n: 2, h: 4, w: 60, c: 20, kh: 2, kw: 45, sh: 1, sw: 3, top: 1, left: 9, right: 8},            // a line of taps too long for a run
		{n: 1, h: 20, w: 19, c: 20, kh: 9, kw: 9, sh: 2, sw: 1, top: 4, bottom: 4, left: 4, right: 4}, // line by line
		{n: 2, h: 41, w: 41, c: 3, kh: 41, kw: 41, sh: 1, sw: 1, act: 1},                              // folds in two steps, of the whole image
		{n: 1, h: 43, w: 90, c: 5, kh: 41, kw: 43, sh: 2, sw: 40},                                     // of windows that overlap, a prime number of rows
		{n: 2, h: 18, w: 33, c: 4, kh: 16, kw: 16, sh: 2, sw: 17, act: 3},                             // less time than a chain of taps
		{n: 1, h: 2, w: 50, c: 7, kh: 1, kw: 47, sh: 1, sw: 1},                                        // rows of a prime number of columns
		{n: 1, h: 42, w: 60, c: 2, kh: 42, kw: 42, sh: 1, sw: 9, left: 1, act: 2},                     // with padding, output by output
	} {
		c.dh, c.dw, c.k = 1, 1, c.c
		for _, op := range []nn.OperationType{nn.OpAveragePool2D, nn.OpMaxPool2D} {
			types(t, fmt.Sprintf("%d/%s", i, op), func(t *testing.T, b *modelBuilder) {
				x, v := b.input(4, uint32(c.n), uint32(c.h), uint32(c.w), uint32(c.c))
				oh, ow := c.outDims()
				y := b.output(uint32(c.n), uint32(oh), uint32(ow), uint32(c.c))
				b.op(op, y, x, b.i32(int32(c.left)), b.i32(int32(c.right)), b.i32(int32(c.top)), b.i32(int32(c.bottom)),
					b.i32(int32(c.sw)), b.i32(int32(c.sh)), b.i32(int32(c.kw)), b.i32(int32(c.kh)), b.i32(c.act))
				var want []float64
				for n := range c.n {
					for oy := range oh {
						for ox := range ow {
							for ch := range c.c {
								sum, top, cnt := 0.0, math.Inf(-1), 0.0
								for ky := range c.kh {
									for kx := range c.kw {
										yy, xx := oy*c.sh-c.top+ky, ox*c.sw-c.left+kx
										if yy < 0 || yy >= c.h || xx < 0 || xx >= c.w {
											continue
										}
										e := float64(v[((n*c.h+yy)*c.w+xx)*c.c+ch])
										sum, top, cnt = sum+e, max(top, e), cnt+1
									}
								}
								r := sum / cnt
								if op == nn.OpMaxPool2D {
									r = top
								}
								want = append(want, activate(c.act, r))
							}
						}
					}
				}
				b.check(t, want)
			})
		}
	}
}

// at4 reads a dense tensor of rank 4 with broadcasting.
func at4(v []float32, dims [4]int, i [4]int) float64 {
	k := 0
	for d := range 4 {
		x := i[d]
		if dims[d] == 1 {
			x = 0
		}
		k = k*dims[d] + x
	}
	return float64(v[k])
}

func four(d []uint32) (out [4]int) {
	for i := range out {
		out[i] = 1
		if j := i - (4 - len(d)); j >= 0 {
			out[i] = int(d[j])
		}
	}
	return out
}

// fused reports whether an operation has a fused activation.
func fused(op nn.OperationType) bool {
	return op == nn.OpAdd || op == nn.OpSub || op == nn.OpMul || op == nn.OpDiv
}

func TestBinary(t *testing.T) {
	for i, c := range []struct {
		a, b []uint32
		act  int32
	}{
		{[]uint32{2, 3, 4, 8}, []uint32{2, 3, 4, 8}, 1},
		{[]uint32{5, 7}, []uint32{5, 7}, 0},
		{[]uint32{2, 5, 3}, []uint32{1}, 3},
		{[]uint32{2, 5, 4}, []uint32{1, 1}, 0},
		{[]uint32{1, 4, 3, 5}, []uint32{5}, 0},
		{[]uint32{3, 1, 5}, []uint32{2, 3, 4, 1}, 2},
		{[]uint32{4, 1, 6}, []uint32{1, 5, 6}, 0},
	} {
		for _, op := range []nn.OperationType{nn.OpAdd, nn.OpMul, nn.OpSub, nn.OpDiv, nn.OpMaximum, nn.OpMinimum, nn.OpPrelu} {
			types(t, fmt.Sprintf("%d/%s", i, op), func(t *testing.T, b *modelBuilder) {
				x, xv := b.input(3, c.a...)
				y, yv := b.constant(2, c.b...)
				da, db := four(c.a), four(c.b)
				if op == nn.OpDiv { // keep away from zero
					for i := range yv {
						yv[i] = float32(math.Copysign(math.Abs(float64(yv[i]))+0.5, float64(yv[i])))
					}
					b.m.Main.Operands[y].Data = encode(b.t, yv)
				}
				var d [4]int
				for k := range d {
					d[k] = max(da[k], db[k])
				}
				var want []float64
				for j := range d[0] * d[1] * d[2] * d[3] {
					at := [4]int{j / (d[1] * d[2] * d[3]), j / (d[2] * d[3]) % d[1], j / d[3] % d[2], j % d[3]}
					p, q := at4(xv, da, at), at4(yv, db, at)
					r := p + q
					switch op {
					case nn.OpMul:
						r = p * q
					case nn.OpSub:
						r = p - q
					case nn.OpDiv:
						r = p / q
					case nn.OpMaximum:
						r = max(p, q)
					case nn.OpMinimum:
						r = min(p, q)
					case nn.OpPrelu:
						if r = p; p < 0 {
							r = p * q
						}
					}
					act := c.act
					if !fused(op) {
						act = 0
					}
					want = append(want, activate(act, r))
				}
				rank := max(len(c.a), len(c.b))
				var od []uint32
				for _, n := range d[4-rank:] {
					od = append(od, uint32(n))
				}
				z := b.output(od...)
				if fused(op) {
					b.op(op, z, x, y, b.i32(c.act))
				} else {
					b.op(op, z, x, y)
				}
				b.check(t, want)
			})
		}
	}
}

func TestUnary(t *testing.T) {
	for _, c := range []struct {
		op nn.OperationType
		f  func(float64) float64
	}{
		{nn.OpRelu, func(x float64) float64 { return activate(1, x) }},
		{nn.OpRelu1, func(x float64) float64 { return activate(2, x) }},
		{nn.OpRelu6, func(x float64) float64 { return activate(3, x) }},
		{nn.OpLogistic, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{nn.OpTanh, math.Tanh},
		{nn.OpAbs, math.Abs},
		{nn.OpSqrt, math.Sqrt},
		{nn.OpRsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }},
		{nn.OpLog, math.Log},
		{nn.OpNeg, func(x float64) float64 { return -x }},
		{nn.OpFloor, math.Floor},
		{nn.OpHardSwish, func(x float64) float64 { return x * min(max(x+3, 0), 6) / 6 }},
	} {
		for _, n := range []uint32{1, 3, 64, 130} {
			types(t, fmt.Sprintf("%s/%d", c.op, n), func(t *testing.T, b *modelBuilder) {
				x, v := b.input(9, n, 1)
				switch c.op {
				case nn.OpSqrt, nn.OpRsqrt, nn.OpLog: // their domain
					for i := range v {
						v[i] = v[i]*v[i] + 0.25
					}
					encode(b.t, v)
				}
				y := b.output(n, 1)
				b.op(c.op, y, x)
				want := wide(v)
				for i := range want {
					want[i] = c.f(want[i])
				}
				b.check(t, want)
			})
		}
	}
}

func TestCopies(t *testing.T) {
	types(t, "reshape", func(t *testing.T, b *modelBuilder) {
		x, v := b.input(1, 3, 7, 5)
		y := b.output(15, 7)
		b.op(nn.OpReshape, y, x, b.i32s([]uint32{2}, 15, -1))
		b.check(t, wide(v))
	})
	types(t, "squeeze", func(t *testing.T, b *modelBuilder) {
		x, v := b.input(1, 1, 8, 1, 4)
		y := b.output(8, 4)
		b.op(nn.OpSqueeze, y, x, b.i32s([]uint32{2}, 0, 2))
		b.check(t, wide(v))
	})
	for axis := range int32(3) {
		types(t, fmt.Sprintf("concat/%d", axis), func(t *testing.T, b *modelBuilder) {
			dims := func(n uint32) []uint32 { d := []uint32{2, 4, 6}; d[axis] = n; return d }
			x, xv := b.input(1, dims(3)...)
			y, yv := b.input(1, dims(4)...)
			z, zv := b.constant(1, dims(1)...)
			out := b.output(dims(8)...)
			b.op(nn.OpConcatenation, out, x, y, z, b.i32(axis))
			outer, inner := 1, 1
			for i, d := range dims(1) {
				if i < int(axis) {
					outer *= int(d)
				} else {
					inner *= int(d)
				}
			}
			var want []float64
			for o := range outer {
				for _, p := range []struct {
					v []float32
					n int
				}{{xv, 3}, {yv, 4}, {zv, 1}} {
					want = append(want, wide(p.v[o*p.n*inner:(o+1)*p.n*inner])...)
				}
			}
			b.check(t, want)
		})
	}
	types(t, "pad", func(t *testing.T, b *modelBuilder) {
		x, v := b.input(1, 2, 3, 4, 5)
		y := b.output(2, 6, 5, 5)
		b.op(nn.OpPad, y, x, b.i32s([]uint32{4, 2}, 0, 0, 1, 2, 0, 1, 0, 0))
		var want []float64
		for n := range 2 {
			for h := range 6 {
				for w := range 5 {
					for c := range 5 {
						e := 0.0
						if h >= 1 && h < 4 && w < 4 {
							e = float64(v[((n*3+h-1)*4+w)*5+c])
						}
						want = append(want, e)
					}
				}
			}
		}
		b.check(t, want)
	})
}

func TestQuantize(t *testing.T) {
	for _, c := range []struct {
		t    nn.OperandType
		zero int32
		lo   int
	}{{nn.TensorQuant8Asymm, 120, 0}, {nn.TensorQuant8AsymmSigned, -5, -128}} {
		types(t, "quantize/"+c.t.String(), func(t *testing.T, b *modelBuilder) {
			x, v := b.input(20, 5, 9)
			y := b.operand(nn.Operand{Type: c.t, Dimensions: []uint32{5, 9}, Scale: 0.125, ZeroPoint: c.zero, Lifetime: nn.SubgraphOutput})
			b.m.Main.Outputs = append(b.m.Main.Outputs, y)
			b.op(nn.OpQuantize, y, x)
			if b.m.Relaxed { // the tensor is stored as half
				v = decode(nn.TensorFloat16, encode(nn.TensorFloat16, append([]float32(nil), v...)))
			}
			outs, _ := b.run(t)
			for i, o := range outs[0] {
				want := min(max(int(math.Round(float64(v[i])/0.125))+int(c.zero), c.lo), c.lo+255)
				if byte(want) != o {
					t.Fatalf("element %d: %v gives %d, want %d", i, v[i], o, byte(want))
				}
			}
		})
		types(t, "dequantize/"+c.t.String(), func(t *testing.T, b *modelBuilder) {
			var data []byte
			var want []float64
			for i := range 256 {
				q := c.lo + i
				data = append(data, byte(q))
				want = append(want, float64(q-int(c.zero))*0.25)
			}
			x := b.operand(nn.Operand{Type: c.t, Dimensions: []uint32{256}, Scale: 0.25, ZeroPoint: c.zero, Lifetime: nn.ConstantCopy, Data: data})
			y := b.output(256)
			b.op(nn.OpDequantize, y, x)
			b.check(t, want)
		})
	}
}

// TestChain runs several operations with temporaries that share memory, and
// checks their statistics: the kernel of the convolution computes the ADD.
func TestChain(t *testing.T) {
	types(t, "chain", func(t *testing.T, b *modelBuilder) {
		x, xv := b.input(1, 1, 6, 6, 8)
		w, wv := b.constant(0.2, 24, 3, 3, 8)
		bias, bv := b.constant(0.3, 24)
		t1, t2, t3 := b.temporary(1, 6, 6, 24), b.temporary(1, 6, 6, 24), b.temporary(1, 1, 1, 24)
		y := b.output(24, 1)
		one, zero := b.i32(1), b.i32(0)
		b.op(nn.OpConv2D, t1, x, w, bias, one, one, one, one, one, one, b.i32(0))
		b.op(nn.OpAdd, t2, t1, t1, b.i32(3))
		b.op(nn.OpAveragePool2D, t3, t2, zero, zero, zero, zero, one, one, b.i32(6), b.i32(6), zero)
		b.op(nn.OpReshape, y, t3, b.i32s([]uint32{2}, 24, 1))
		c := convCase{n: 1, h: 6, w: 6, c: 8, k: 24, kh: 3, kw: 3, sh: 1, sw: 1, dh: 1, dw: 1, top: 1, bottom: 1, left: 1, right: 1}
		conv := c.reference(xv, wv, bv)
		want := make([]float64, 24)
		for i, e := range conv {
			want[i%24] += activate(3, 2*e) / 36
		}
		res := b.check(t, want)
		seen := map[int]bool{}
		for _, o := range res.Stats.Operations {
			seen[o.Index] = true
			if o.Index == 0 && o.MACs != 36*24*72 {
				t.Errorf("operation 0 has %d MACs", o.MACs)
			}
		}
		if !seen[0] || !seen[2] || res.Stats.Instructions == 0 || res.Stats.EnergyPJ <= 0 {
			t.Errorf("statistics of operations %v: %+v", seen, res.Stats)
		}
	})
}

func TestUnsupported(t *testing.T) {
	d := newDevice(t)
	ask := func(m *nn.Model) string {
		s, err := d.SupportedOperations(m)
		if err != nil {
			return err.Error()
		}
		if s[0].OK {
			return "supported"
		}
		return s[0].Reason
	}
	one := func(op nn.OperationType, o nn.Operand) *modelBuilder {
		b := newModel(o.Type)
		o.Lifetime = nn.SubgraphInput
		x := b.operand(o)
		o.Lifetime = nn.SubgraphOutput
		y := b.operand(o)
		b.m.Main.Inputs, b.m.Main.Outputs = []uint32{x}, []uint32{y}
		b.op(op, y, x)
		return b
	}
	b := one(nn.OpRelu, nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1 << 15, 1 << 15}})
	if r := ask(&b.m); !strings.Contains(r, "at most 512 MiB") {
		t.Error(r)
	}
	b = one(nn.CodeExtensions()[0].Decode(), nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{4}, Scale: 1})
	if r := ask(&b.m); !strings.Contains(r, "DECODE_CODEBOOK") {
		t.Error(r)
	}
	if _, err := d.PrepareModel(&b.m, hal.PrepareOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("PrepareModel: %v", err)
	}
}

func TestRequests(t *testing.T) {
	b := newModel(nn.TensorFloat32)
	x, _ := b.input(1, 4)
	b.op(nn.OpRelu, b.output(4), x)
	p := require.V(newDevice(t).PrepareModel(&b.m, hal.PrepareOptions{}))(t)
	for _, c := range []struct {
		r    hal.Buffers
		want hal.Status
	}{
		{hal.Buffers{}, hal.InvalidArgument},
		{hal.Buffers{Inputs: [][]byte{make([]byte, 12)}, Outputs: [][]byte{make([]byte, 16)}}, hal.InvalidArgument},
		{hal.Buffers{Inputs: [][]byte{make([]byte, 16)}, Outputs: [][]byte{make([]byte, 12)}}, hal.InvalidArgument},
	} {
		if _, err := hal.Execute(p, &c.r); hal.StatusOf(err) != c.want {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}

func TestListing(t *testing.T) {
	b, _ := convCases[2].build(nn.TensorFloat32)
	p := require.V(newDevice(t).PrepareModel(&b.m, hal.PrepareOptions{}))(t)
	var s strings.Builder
	require.NoError(t, p.WriteListing(&s))
	for _, want := range []string{"operation 0 CONV_2D", "v_fmac_f32_e32", "global_load_dwordx4", "s_load_dwordx4", "s_endpgm"} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("no %q in the listing", want)
		}
	}
}

// TestSpecialNumbers: NaN, infinities and numbers that halves do not hold behave as in the reference.
func TestSpecialNumbers(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, build := range map[string]func(b *modelBuilder){
		"top of NaN": func(b *modelBuilder) {
			x, v := b.input(1, 3, 8)
			copy(v, []float32{1, nan, 3, -inf, nan, 3, inf, 0, nan, nan, nan, nan, nan, nan, nan, nan, -inf, -1, float32(math.Copysign(0, -1)), 0, nan, -1, 2, 2})
			out := []uint32{b.output(3, 5), b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{3, 5}, Lifetime: nn.SubgraphOutput})}
			b.m.Main.Outputs = out
			b.op(nn.OpTopkV2, out[0], x, b.i32(5))
			b.m.Main.Operations[0].Outputs = out
		},
		"memory": func(b *modelBuilder) { // features beyond halves, which times bring back
			x, v := b.input(1, 2, 2)
			copy(v, []float32{400, 300, 2, -1})
			feature, f := b.input(1, 4, 2)
			copy(f, []float32{300, 200, -300, -200, 1, 2, 3, 4})
			time, m := b.input(1, 4, 3)
			for i := range m {
				m[i] *= 0.125
			}
			bias, _ := b.input(1, 4)
			state, _ := b.input(1, 2, 12)
			out := []uint32{b.output(2, 12), b.output(2, 4)}
			b.op(nn.OpSvdf, out[0], x, feature, time, bias, state, b.i32(1), b.i32(0))
			b.m.Main.Operations[0].Outputs = out
		},
		"far sines": func(b *modelBuilder) {
			x, v := b.input(1, 64)
			y := b.output(64)
			for i := range v {
				v[i] = float32(math.Ldexp(1+float64(b.r.Float32()), 2*i)) * float32(1-i%2*2)
			}
			v[0], v[1], v[2] = inf, nan, math.MaxFloat32
			b.op(nn.OpSin, y, x)
		},
	} {
		for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
			t.Run(fmt.Sprintf("%s/%s", name, typ), func(t *testing.T) {
				b := newModel(typ)
				build(b)
				b.checkReference(t)
			})
		}
	}
}

// TestInfiniteMeans: means of infinite numbers are infinite, with the sign of the sum.
func TestInfiniteMeans(t *testing.T) {
	for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
		inf := float32(math.Inf(1))
		for name, build := range map[string]func(b *modelBuilder, x, y uint32){
			"pool": func(b *modelBuilder, x, y uint32) {
				b.op(nn.OpAveragePool2D, y, x, b.i32(2), b.i32(2), b.i32(1), b.i32(2), b.i32(1), b.i32(0)) // VALID
			},
			"mean": func(b *modelBuilder, x, y uint32) {
				b.op(nn.OpMean, y, x, b.i32s([]uint32{1}, 2), b.i32(1))
			},
		} {
			t.Run(fmt.Sprintf("%s/%s", typ, name), func(t *testing.T) {
				b := newModel(typ)
				x, v := b.input(1, 1, 3, 2, 1)
				y := b.output(1, 3, 1, 1)
				build(b, x, y)
				copy(v, []float32{inf, 1, -inf, 2, 3, 5})
				outs, _ := b.run(t)
				if got, want := decode(typ, outs[0]), []float32{inf, -inf, 4}; !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			})
		}
	}
}
