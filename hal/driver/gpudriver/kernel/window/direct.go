package window

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// directNames are the kernels in listings.
var directNames = [...]string{Grouped: "conv_grouped", Depthwise: "conv_depthwise", Transposed: "conv_transposed", Average: "pool_average", L2: "pool_l2", Maximum: "pool_maximum"}

// Direct slides windows over images without tables or packed constants: filters and biases are tensors, so they
// may change with each execution. Grouped and transposed convolutions, and L2 pooling are only here; operations that
// fit the tiles of Kernel and of package gemm are faster there.
//
// Lanes are elements of the output. Each adds the taps of its window one by one. Pooling has no filter.
type Direct struct {
	Shape
	Groups       int                     // of Grouped and Transposed
	Packed       bool                    // the filter is one of PackFilter
	Mult         []fixedpoint.Multiplier // one per channel, with PerChannel
	Filter, Bias *layout.Tensor

	mult uint32 // offset of the records of multipliers
}

// channels is the input channels that one output channel reads.
func (s *Direct) channels() int {
	if s.Mode == Grouped || s.Mode == Transposed {
		return s.InC / s.Groups
	}
	return 1
}

// Pack implements kernel.Packer.
func (k *Direct) Pack(m *kernel.Memory) kernel.Kernel {
	if !k.Fixed.PerChannel {
		return k
	}
	packed := *k
	packed.Mult = nil
	packed.mult = m.Consts.Words(rdna.Records(k.Mult))
	return &packed
}

// Emit implements kernel.Kernel.
func (k *Direct) Emit(a *rdna.Builder) kernel.Grid {
	g := generator{Builder: a, Direct: k}
	w := &k.Window
	out := a.Lane(kernel.FlatGroup)
	pos, ch := a.DivConstV(out, k.OutC, "position")
	pos, ox := a.DivConstV(pos, w.OutW, "x")
	b, oy := a.DivConstV(pos, w.OutH, "y")
	first, filter := g.begin(ch)
	image := a.Times(b, w.H)
	sum, count := a.Variable(g.start()), a.Variable(0)
	a.For(w.KH, "filter row", func(ky codegen.Reg) {
		y, yInside := g.tap(oy, ky, w.StrideH, w.DilationH, w.Top, w.H)
		line := a.Times(a.Sum(image, y), w.W)
		a.For(w.KW, "filter column", func(kx codegen.Reg) {
			x, xInside := g.tap(ox, kx, w.StrideW, w.DilationW, w.Left, w.W)
			inside := a.Both(yInside, xInside)
			place := a.Sum(a.Times(a.Sum(line, x), k.InC), first)
			if g.quads() {
				g.addQuads(sum, place, filter, inside)
				return
			}
			place = a.Variable(a.Choose(0, place, inside))
			a.For(k.channels(), "channel", func(codegen.Reg) {
				g.add(sum, a.Element(k.In, place), filter, inside)
				a.Increase(place, 1)
			})
			a.Set(count, a.Choose(count, a.Sum(count, 1), inside))
		})
	})
	var bias, record codegen.Reg
	if !k.pools() {
		bias, record = a.Element(k.Bias, ch), a.Record(&k.Fixed, k.mult, ch)
	}
	a.SetElement(k.Out, out, k.finish(a, sum, bias, record, count))
	return kernel.Flat(directNames[k.Mode]+"_"+k.In.Elem.String(), k.rows()*k.OutC)
}

// PackFilter reorders the filter [OutC][KH][KW][channels] of Grouped or Transposed, of
// elements of so many bytes, to [KH][KW][channels/4][OutC][4], so that neighbouring lanes read
// neighbouring addresses. It reports false where channels are not processed by fours.
func (s *Direct) PackFilter(data []byte, bytes int) ([]byte, bool) {
	if !s.quads() {
		return nil, false
	}
	out, four := make([]byte, len(data)), 4*bytes
	quads := len(data) / four / s.OutC // of an output channel
	for k := range s.OutC {
		for q := range quads {
			copy(out[(q*s.OutC+k)*four:][:four], data[(k*quads+q)*four:])
		}
	}
	return out, true
}

// quads reports whether channels are processed four at a time.
func (s *Direct) quads() bool {
	return (s.Mode == Grouped || s.Mode == Transposed) && s.channels()%4 == 0
}

// Zeros reports whether quads outside the image are zeros, which meet the filter as in the reference; where
// it leaves taps out, and of integers, lanes outside are masked.
func (k *Direct) Zeros() bool {
	return k.Mode == Grouped && k.quads() && k.In.Elem.IsFloat() && k.Window.Padded()
}

// maxQuads bounds the loads that are under way at once, of inputs and of weights.
const maxQuads = 4

// addQuads folds all channels of a tap into the accumulator, for the lanes that are inside,
// and steps through the filter.
func (g *generator) addQuads(sum, place, filter, inside codegen.Reg) {
	n := g.channels() / 4
	step := maxQuads
	for n%step != 0 {
		step--
	}
	next := 4 // elements of the filter from quad to quad
	if g.Packed {
		next *= g.OutC
	}
	in, weights := g.Pointer(g.In.Region, g.In.Off, "in"), g.Pointer(g.Filter.Region, g.Filter.Off, "filter")
	xs, ws := g.In.Elem.Shift(), g.Filter.Elem.Shift()
	from := g.ShiftLeft(place, xs, "offset")
	products := func() {
		x, w := g.Variable(from), g.Variable(g.ShiftLeft(filter, ws, "offset"))
		g.For(n/step, "channels", func(codegen.Reg) {
			var quads [2 * maxQuads]codegen.Reg
			for i := range step {
				quads[2*i] = g.LoadQuad(g.In.Elem, in, x, 4*i<<xs)
				quads[2*i+1] = g.LoadQuad(g.Filter.Elem, weights, g.Sum(w, i*next<<ws), 0)
				if !g.Packed { // lanes are units
					g.Scattered(32)
				}
			}
			for i := range step {
				g.product(sum, quads[2*i], quads[2*i+1])
			}
			g.Increase(x, 4*step<<xs)
			g.Increase(w, next*step<<ws)
		})
	}
	if g.Zeros() { // which the arena begins with
		in, from = g.Base(layout.Arena), g.Choose(0, g.Sum(from, g.In.Off), inside)
		products()
	} else {
		g.Masked(inside, func() { g.Share(g.taps(), g.Window.KH*g.Window.KW, products) })
	}
	g.Increase(filter, n*next)
}

// taps are those that a wave loads for: of Transposed one of each stride, in each phase of a row that its lanes are in.
func (g *generator) taps() int {
	w := &g.Window
	if g.Mode != Transposed {
		return w.KH * w.KW
	}
	return kernel.Up(w.KH, w.StrideH) * min(w.KW, kernel.Up(w.KW, w.StrideW)*min(w.StrideW, kernel.Up(32, g.OutC)))
}

// product adds the products of four inputs and weights.
func (g *generator) product(sum, x, w codegen.Reg) {
	if g.In.Elem == layout.F16 && g.Filter.Elem == layout.F16 {
		for i := range 2 {
			g.Builder.Emit(rdna2.V_DOT2C_F32_F16_E32, sum, rdna.At(x, i), rdna.At(w, i))
		}
		return
	}
	xs, ws := g.Elements(g.In.Elem, x, 4), g.Elements(g.Filter.Elem, w, 4)
	for i := range 4 {
		if g.In.Elem.IsFloat() {
			g.Builder.Emit(rdna2.V_FMAC_F32_E32, sum, xs[i], ws[i])
		} else {
			g.Builder.Emit(rdna2.V_MAD_I32_I24, sum, g.Centre(xs[i], g.Fixed.InZero), g.Centre(ws[i], g.Fixed.FilterZero), sum)
		}
	}
}

// generator emits the code of a kernel.
type generator struct {
	*rdna.Builder
	*Direct
}

// begin is the first input channel of an output channel, and the variable that walks
// through its filter.
func (g *generator) begin(ch codegen.Reg) (first, filter codegen.Reg) {
	switch g.Mode {
	case Grouped, Transposed:
		group, _ := g.DivConstV(ch, g.OutC/g.Groups, "group")
		if g.Packed {
			return g.Times(group, g.channels()), g.Variable(g.ShiftLeft(ch, 2, "filter"))
		}
		return g.Times(group, g.channels()), g.Variable(g.Times(ch, g.channels()*g.Window.KH*g.Window.KW))
	case Depthwise:
		first, _ = g.DivConstV(ch, g.Multiplier, "input channel")
		return first, g.Variable(ch)
	}
	return ch, filter
}

// tap is the input coordinate of tap i of output coordinate o, and where there is one.
func (g *generator) tap(o, i codegen.Reg, stride, dilation, pad, n int) (at, inside codegen.Reg) {
	if g.Mode != Transposed {
		at = g.Sum(g.Less(g.Times(o, stride), pad), g.MulConst(i, dilation, "distance"))
		return at, g.Inside(at, n)
	}
	spread := g.Less(g.Sum(o, pad), i)
	from := g.Where(rdna2.V_CMP_LE_I32_E64, 0, spread)
	at, rest := g.DivConstV(g.Greatest(spread, 0), stride, "source")
	whole := g.Where(rdna2.V_CMP_EQ_U32_E64, 0, rest)
	return at, g.Both(g.Both(from, whole), g.Inside(at, n))
}

// add folds one input into the accumulator and steps through the filter.
func (g *generator) add(sum, x, filter, inside codegen.Reg) {
	float := g.In.Elem.IsFloat()
	if !float && !g.pools() {
		x = g.Centre(x, g.Fixed.InZero)
	}
	if g.Mode == Maximum {
		m := g.Greatest
		if float {
			m = g.MaxF
		}
		g.Set(sum, g.Choose(sum, m(sum, x), inside))
		return
	}
	leaveOut := float && (g.Mode == Depthwise || g.Mode == Transposed)
	if !leaveOut {
		x = g.Choose(0, x, inside)
	}
	other := x
	if !g.pools() {
		other = g.Element(g.Filter, filter)
		step := 1
		if g.Mode == Depthwise {
			step = g.OutC
		}
		g.Increase(filter, step)
	}
	switch {
	case g.Mode == Average && float:
		g.Set(sum, g.AddF(sum, x))
	case g.Mode == Average:
		g.Set(sum, g.Sum(sum, x))
	case leaveOut:
		g.Builder.Emit(rdna2.V_CNDMASK_B32_E64, sum, sum, g.Op3(rdna2.V_FMA_F32, g.V("sum"), x, other, sum), inside)
	case float:
		g.Builder.Emit(rdna2.V_FMAC_F32_E32, sum, x, other)
	default:
		g.Builder.Emit(rdna2.V_MAD_I32_I24, sum, x, g.Centre(other, g.Fixed.FilterZero), sum)
	}
}
