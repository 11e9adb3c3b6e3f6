package kernel_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// machines have one core and two, wide and narrow weight streams.
var machines = []string{"pixel4", "ethos-u65-512", "ethos-u55-32"}

// onMachines runs a test on each machine.
func onMachines(t *testing.T, f func(t *testing.T, s npu.Spec)) {
	for _, name := range machines {
		t.Run(name, func(t *testing.T) {
			c := require.V(soc.Load(name))(t)
			s := require.V(npu.FromSoC(c, sim.FastSingleAnswer))(t)
			f(t, s)
		})
	}
}

// dense is a map for Run to place.
func dense(h, w, c, bytes int, signed bool) layout.Ref {
	return layout.Ref{FeatureMap: layout.Dense(0, h, w, c, bytes, signed)}
}

// elements are n random elements of a map, those of 32 bits between -most and most.
func elements(r *rand.Rand, f *layout.FeatureMap, most int32) []int32 {
	v := make([]int32, f.H*f.W*f.C)
	for i := range v {
		switch {
		case f.Bytes == 4:
			v[i] = int32(r.Int64N(2*int64(most)+1) - int64(most))
		case f.Signed:
			v[i] = int32(r.IntN(256) - 128)
		default:
			v[i] = int32(r.IntN(256))
		}
	}
	return v
}

func stored(f *layout.FeatureMap, v []int32) []byte {
	var b []byte
	for _, x := range v {
		if f.Bytes == 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		} else {
			b = append(b, byte(x))
		}
	}
	return b
}

// compare runs a kernel on elements and compares every output with want.
func compare(t *testing.T, c *kerneltest.Case, in, in2 []int32, want func(y, x, ch int) int32) {
	t.Helper()
	c.Input = stored(&c.Kernel.IFM.FeatureMap, in)
	if c.Kernel.IFM2 != nil {
		c.Input2 = stored(&c.Kernel.IFM2.FeatureMap, in2)
	}
	r := require.V(c.Run())(t)
	f := &c.Kernel.OFM.FeatureMap
	for i := range f.H * f.W * f.C {
		got := int32(r.Output[i*f.Bytes])
		switch {
		case f.Bytes == 4:
			got = int32(binary.LittleEndian.Uint32(r.Output[4*i:]))
		case f.Signed:
			got = int32(int8(got))
		}
		if w := want(i/f.C/f.W, i/f.C%f.W, i%f.C); got != w {
			t.Fatalf("element %d of %dx%dx%d is %d, want %d", i, f.H, f.W, f.C, got, w)
		}
	}
}

// multiplier is a scale and right shift as gemmlowp's multiplier.
func multiplier(scale uint32, shift int) fixedpoint.Multiplier {
	return fixedpoint.Multiplier{M: int32(scale), Shift: 31 - shift}
}

func clamp(v int32, s *kernel.Shape) int32 { return min(max(v, int32(s.Lo)), int32(s.Hi)) }

// window is a kernel's window on a map: its taps inside of it.
func window(s *kernel.Shape, f *layout.FeatureMap, oy, ox int, tap func(n, at int)) {
	for n := range s.KH * s.KW {
		y, x := oy*s.SY-s.Top+n/s.KW*s.DY, ox*s.SX-s.Left+n%s.KW*s.DX
		if y >= 0 && y < f.H && x >= 0 && x < f.W {
			tap(n, (y*f.W+x)*f.C)
		}
	}
}

// shapes of windows on 9x7: dense, strided, dilated, padded on each side by what the first and
// the last window reach beyond the map, and with parts of taps.
var shapes = []kernel.Shape{
	{},
	{KH: 3, KW: 3, Top: 1, Left: 1, Bottom: 1, Right: 1},
	{KH: 3, KW: 2, SY: 2, SX: 3, Top: 1, PartKernel: true},
	{KH: 2, KW: 3, DY: 2, DX: 2, Left: 2, Right: 2},
	{KH: 5, KW: 4, SY: 2, SX: 2, Top: 1, Left: 2, Bottom: 1, Right: 1, PartKernel: true},
	{KH: 9, KW: 6, DX: 2, Top: 3, Left: 4, Bottom: 3, Right: 4}, // in parts of 8 rows and 4 columns of taps
}

// output is the size of a kernel's output on a map.
func output(s *kernel.Shape, h, w int) (oh, ow int) {
	return (h+s.Top+s.Bottom-(s.KH-1)*s.DY-1)/s.SY + 1, (w+s.Left+s.Right-(s.KW-1)*s.DX-1)/s.SX + 1
}

// TestConv: products of every form of weights, of signed and of unsigned bytes, with a
// multiplier for each output channel.
func TestConv(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	onMachines(t, func(t *testing.T, spec npu.Spec) {
		for i, shape := range shapes {
			for _, form := range []kernel.Form{kernel.PerOutput, kernel.PerTap, kernel.Multiplied, kernel.Ones} {
				if form == kernel.Ones && i > 0 {
					continue // has one tap
				}
				for _, signed := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d/%d/%v", i, form, signed), func(t *testing.T) {
						const h, w, times, before = 9, 7, 3, 8 // times: outputs per input of Multiplied; before: channels of the operand left out
						k := kernel.Kernel{Shape: shape}
						k.Kind = kernel.Conv
						k.Defaults()
						inputs, outputs := 5+r.IntN(40), 1+r.IntN(50)
						k.Weights = &kernel.Weights{Signed: signed, Zero: 7, Form: form, First: before, Outputs: outputs, Taps: k.KH * k.KW, Inputs: inputs, Multiplier: 1}
						if form == kernel.PerTap || form == kernel.Ones {
							k.Kind, k.PartKernel, inputs = kernel.Depthwise, false, outputs
						}
						if form == kernel.Ones {
							k.Shape = kernel.Shape{Kind: kernel.Depthwise}
							k.Defaults()
							k.Weights.Taps, k.Weights.First = 1, 0
						}
						oh, ow := output(&k.Shape, h, w)
						k.Lo, k.Hi = layout.Limits(signed)
						k.Lo += 20 // as an activation has it
						k.IFM, k.OFM = dense(h, w, inputs, 1, signed), dense(oh, ow, outputs, 1, signed)
						k.IFM.Zero, k.OFM.Zero = k.Lo+80, k.Lo+120
						channels := before + outputs + 3
						k.Weights.Channels = channels
						count := channels * k.Weights.Taps // of the operand
						if form == kernel.PerOutput {
							count *= inputs
						}
						if form == kernel.Multiplied {
							k.Weights.Multiplier = times
							inputs = (before+outputs-1)/times + 1
							k.Weights.Inputs, k.IFM = inputs, dense(h, w, inputs, 1, signed)
							k.IFM.Zero = k.Lo + 80
						}
						for range count {
							k.Weights.Filter = append(k.Weights.Filter, byte(r.Uint32()))
						}
						for range outputs {
							real := math.Exp(-9 + 3*r.Float64())
							m := fixedpoint.QuantizeMultiplier(real)
							k.Weights.Records = append(k.Weights.Records, ethosu.ScaleRecord{Bias: int64(r.IntN(20000) - 10000), Scale: uint32(m.M), Shift: uint8(31 - m.Shift)})
						}
						weight := func(i int) int32 {
							v := int32(k.Weights.Filter[i])
							if signed {
								v = int32(int8(v))
							}
							return v - 7
						}
						x := elements(r, &k.IFM.FeatureMap, 0)
						compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, nil, func(oy, ox, ch int) int32 {
							rec := k.Weights.Records[ch]
							sum, real := int32(rec.Bias), before+ch // channel of the operand
							window(&k.Shape, &k.IFM.FeatureMap, oy, ox, func(n, at int) {
								centred := func(c int) int32 { return x[at+c] - int32(k.IFM.Zero) }
								switch form {
								case kernel.PerOutput:
									for c := range inputs {
										sum += centred(c) * weight((real*k.Weights.Taps+n)*inputs+c)
									}
								case kernel.PerTap:
									sum += centred(ch) * weight(n*channels+real)
								case kernel.Multiplied:
									sum += centred(real/times) * weight(n*channels+real)
								default:
									sum += centred(ch)
								}
							})
							return clamp(multiplier(rec.Scale, int(rec.Shift)).Apply(sum)+int32(k.OFM.Zero), &k.Shape)
						})
					})
				}
			}
		}
	})
}

// TestPool: maxima, averages with and without padding, truncated means of whole maps, and
// sums over channels.
func TestPool(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 2))
	onMachines(t, func(t *testing.T, spec npu.Spec) {
		for i, shape := range shapes {
			if max(shape.DX, shape.DY) > 1 {
				continue // pools have no dilation
			}
			for _, mode := range []int{ethosu.PoolMax, ethosu.PoolAverage} {
				for _, signed := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d/%d/%v", i, mode, signed), func(t *testing.T) {
						k := kernel.Kernel{Shape: shape}
						k.Kind, k.Mode, k.PartKernel = kernel.Pool, mode, false
						k.Defaults()
						k.Lo, k.Hi = layout.Limits(signed)
						k.Hi -= 30 // as an activation has it
						const h, w = 9, 7
						c := 1 + r.IntN(40)
						oh, ow := output(&k.Shape, h, w)
						k.IFM, k.OFM = dense(h, w, c, 1, signed), dense(oh, ow, c, 1, signed)
						if k.Top|k.Left|k.Bottom|k.Right == 0 && mode == ethosu.PoolAverage {
							scale, shift := ethosu.AverageScale(k.KH*k.KW, 0)
							k.Global, k.Scale, k.Shift = true, scale, int(shift)
						}
						x := elements(r, &k.IFM.FeatureMap, 0)
						compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, nil, func(oy, ox, ch int) int32 {
							sum, inside, most := int32(0), 0, int32(math.MinInt32)
							window(&k.Shape, &k.IFM.FeatureMap, oy, ox, func(_, at int) {
								v := x[at+ch]
								sum, inside, most = sum+v, inside+1, max(most, v)
							})
							if mode == ethosu.PoolMax {
								return clamp(most, &k.Shape)
							}
							return clamp(int32(math.Round(float64(sum)/float64(inside))), &k.Shape)
						})
					})
				}
			}
		}
		t.Run("truncated", func(t *testing.T) {
			k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolAverage, KH: 9, KW: 7, Global: true, Round: ethosu.RoundTruncate, Hi: 255}}
			k.Shift = 30 + bits.Len(63)
			k.Scale = uint32((uint64(1)<<k.Shift + 62) / 63) // just above 1/63
			k.IFM, k.OFM = dense(9, 7, 11, 1, false), dense(1, 1, 11, 1, false)
			x := elements(r, &k.IFM.FeatureMap, 0)
			compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, nil, func(_, _, ch int) int32 {
				sum := int32(0)
				for i := ch; i < len(x); i += 11 {
					sum += x[i]
				}
				return sum / 63
			})
		})
		t.Run("channels", func(t *testing.T) {
			k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolReduceSum, Global: true, Scale: 1}}
			k.IFM, k.OFM = dense(1, 6, 50, 4, true), dense(1, 6, 1, 4, true)
			x := elements(r, &k.IFM.FeatureMap, 1<<24)
			compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, nil, func(_, ox, _ int) int32 {
				sum := int32(0)
				for _, v := range x[50*ox : 50*ox+50] {
					sum += v
				}
				return sum
			})
		})
	})
}

// repeated is which element of a second operand belongs to a place of the first.
func repeated(f *layout.FeatureMap, y, x, c int) int {
	return (min(y, f.H-1)*f.W+min(x, f.W-1))*f.C + min(c, f.C-1)
}

// broadcasts are the extents of a second operand against 4x5x6, and their broadcast bits.
var broadcasts = []struct{ h, w, c, bits int }{
	{4, 5, 6, 0}, {1, 5, 6, ethosu.BroadcastH}, {4, 1, 6, ethosu.BroadcastW}, {4, 5, 1, ethosu.BroadcastC},
	{1, 1, 6, ethosu.BroadcastH | ethosu.BroadcastW}, {1, 1, 1, ethosu.BroadcastH | ethosu.BroadcastW | ethosu.BroadcastC},
}

// TestBytes: sums, products and maxima of bytes of different quantizations, the second
// repeated along each axis, in both orders.
func TestBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 3))
	add, mul := fixedpoint.QuantizeMultiplier(0.3), fixedpoint.QuantizeMultiplier(0.011)
	out := fixedpoint.QuantizeMultiplier(1.7 / (1 << 20))
	sums := kernel.Shape{Mode: ethosu.EltAdd, ScaleMode: ethosu.ScaleOPA32, OPAScale: uint32(add.M), OPAShift: 11 - add.Shift, Scale: uint32(out.M), Shift: 31 - out.Shift}
	swapped := sums
	swapped.ScaleMode = ethosu.ScaleOPB32
	onMachines(t, func(t *testing.T, spec npu.Spec) {
		for _, f := range []struct {
			name string
			kernel.Shape
			of func(a, b int32) int32
		}{
			{"add", sums, func(a, b int32) int32 { return out.Apply(add.Apply(a<<20) + b<<19) }},
			{"add, second scaled", swapped, func(a, b int32) int32 { return out.Apply(a<<19 + add.Apply(b<<20)) }},
			{"multiply", kernel.Shape{Mode: ethosu.EltMul, OPAScale: 1, OPBScale: 1, Scale: uint32(mul.M), Shift: 31 - mul.Shift}, func(a, b int32) int32 { return mul.Apply(a * b) }},
			{"maximum", kernel.Shape{Mode: ethosu.EltMax, OPAScale: 1, OPBScale: 1, Scale: 1}, func(a, b int32) int32 { return max(a, b) }},
		} {
			for _, b := range broadcasts {
				for _, signed := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%v/%v", f.name, b, signed), func(t *testing.T) {
						k := kernel.Kernel{Shape: f.Shape}
						k.Kind, k.Broadcast = kernel.Elementwise, b.bits
						k.Lo, k.Hi = layout.Limits(signed)
						k.Hi -= 10
						second := dense(b.h, b.w, b.c, 1, signed)
						k.IFM, k.IFM2, k.OFM = dense(4, 5, 6, 1, signed), &second, dense(4, 5, 6, 1, signed)
						k.IFM.Zero, second.Zero, k.OFM.Zero = k.Lo+100, k.Lo+130, k.Lo+90
						x, y := elements(r, &k.IFM.FeatureMap, 0), elements(r, &second.FeatureMap, 0)
						compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, y, func(oy, ox, ch int) int32 {
							v := f.of(x[(oy*5+ox)*6+ch]-int32(k.IFM.Zero), y[repeated(&second.FeatureMap, oy, ox, ch)]-int32(second.Zero))
							return clamp(v+int32(k.OFM.Zero), &k.Shape)
						})
					})
				}
			}
		}
	})
}

// TestWords: the operations on 32-bit elements of which a softmax consists.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 4))
	one := kernel.Shape{Scale: 1, OPAScale: 1, OPBScale: 1}
	of := func(mode int, change func(s *kernel.Shape)) kernel.Shape {
		s := one
		s.Mode = mode
		if change != nil {
			change(&s)
		}
		return s
	}
	onMachines(t, func(t *testing.T, spec npu.Spec) {
		for _, f := range []struct {
			name string
			kernel.Shape
			first, second int32 // bounds of the operands; below 0: from 0 to there
			of            func(a, b int32) int32
		}{
			{"add", of(ethosu.EltAdd, nil), 1 << 30, 1<<30 - 1, func(a, b int32) int32 { return a + b }},
			{"half of a sum", of(ethosu.EltAdd, func(s *kernel.Shape) { s.Shift = 1 }), math.MaxInt32, math.MaxInt32,
				func(a, b int32) int32 { return int32((int64(a) + int64(b) + 1) >> 1) }},
			{"subtract", of(ethosu.EltSub, nil), 1 << 30, 1<<30 - 1, func(a, b int32) int32 { return a - b }},
			{"subtract, swapped", of(ethosu.EltSub, func(s *kernel.Shape) { s.Broadcast = ethosu.BroadcastSwap }), 1 << 30, 1<<30 - 1, func(a, b int32) int32 { return b - a }},
			{"high half of the doubled product", of(ethosu.EltMul, func(s *kernel.Shape) { s.Scale, s.Shift = 1<<30, 31 }), math.MaxInt32, math.MaxInt32, fixedpoint.SRDHM},
			{"product", of(ethosu.EltMul, nil), 1 << 20, 1 << 10, func(a, b int32) int32 { return a * b }},
			{"shift right", of(ethosu.EltShr, func(s *kernel.Shape) { s.Round = ethosu.RoundNatural }), 1 << 30, -31,
				func(a, b int32) int32 {
					if b == 0 {
						return a
					}
					return int32((int64(a) + 1<<(b-1)) >> b)
				}},
			{"shift left", of(ethosu.EltShl, nil), math.MaxInt32, -31, func(a, b int32) int32 { return a << b }},
		} {
			for _, b := range broadcasts {
				t.Run(fmt.Sprintf("%s/%v", f.name, b), func(t *testing.T) {
					k := kernel.Kernel{Shape: f.Shape}
					k.Kind, k.Broadcast = kernel.Elementwise, k.Broadcast|b.bits
					second := dense(b.h, b.w, b.c, 4, true)
					k.IFM, k.IFM2, k.OFM = dense(4, 5, 6, 4, true), &second, dense(4, 5, 6, 4, true)
					x := elements(r, &k.IFM.FeatureMap, f.first)
					y := elements(r, &second.FeatureMap, max(f.second, -f.second))
					for i := range y {
						if f.second < 0 {
							y[i] = max(y[i], -y[i])
						}
					}
					compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, y, func(oy, ox, ch int) int32 {
						return f.of(x[(oy*5+ox)*6+ch], y[repeated(&second.FeatureMap, oy, ox, ch)])
					})
				})
			}
		}
		t.Run("leading zeros", func(t *testing.T) {
			k := kernel.Kernel{Shape: of(ethosu.EltClz, nil), IFM: dense(1, 4, 16, 4, true), OFM: dense(1, 4, 16, 4, true)}
			k.Kind = kernel.Elementwise
			x := elements(r, &k.IFM.FeatureMap, 1<<30)
			for i := range x[:34] {
				x[i] = int32(uint32(1) << max(i-2, 0) * uint32(min(i, 1)))
			}
			compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, nil, func(_, ox, ch int) int32 { return int32(bits.LeadingZeros32(uint32(x[16*ox+ch]))) })
		})
	})
}

// TestTable: every byte's entry of a table of bytes, and differences of bytes of a table of
// words, as a softmax looks its exponentials up.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 5))
	onMachines(t, func(t *testing.T, spec npu.Spec) {
		for _, signed := range []bool{false, true} {
			k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax}, IFM: dense(1, 16, 16, 1, signed), OFM: dense(1, 16, 16, 1, signed)}
			k.Lo, k.Hi = layout.Limits(signed)
			x := make([]int32, 256)
			for i := range x {
				x[i] = int32(i + k.Lo)
				k.Table = append(k.Table, byte(r.Uint32()))
			}
			compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, nil, func(_, ox, ch int) int32 {
				v := k.Table[16*ox+ch]
				if signed {
					return int32(int8(v))
				}
				return int32(v)
			})
		}
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: ethosu.EltSub, Scale: 1, OPAScale: 1, OPBScale: 1,
			Clip: ethosu.ClipInt8, Lo: -128, Hi: 127, Broadcast: ethosu.BroadcastC}}
		second := dense(1, 5, 1, 1, false)
		k.IFM, k.IFM2, k.OFM = dense(1, 5, 30, 1, false), &second, dense(1, 5, 30, 4, true)
		k.OFM.Zero = 127
		table := make([]int32, 256)
		for i := range table {
			table[i] = r.Int32()
			k.Table = binary.LittleEndian.AppendUint32(k.Table, uint32(table[i]))
		}
		x, y := elements(r, &k.IFM.FeatureMap, 0), elements(r, &second.FeatureMap, 0)
		for i := range x {
			x[i] = min(x[i], y[i/30]) // the maximum of a row is the second operand
		}
		compare(t, &kerneltest.Case{Spec: spec, Kernel: k}, x, y, func(_, ox, ch int) int32 { return table[255+x[30*ox+ch]-y[ox]] })
	})
}
