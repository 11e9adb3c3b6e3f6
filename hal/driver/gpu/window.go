package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// windowMode is what is done with the taps of a window.
type windowMode uint8

const (
	depthwise windowMode = iota
	average
	maximum
)

// window computes depthwise convolutions and pooling. Where the taps of a
// position lie comes from a table, so padding and stride cost no instructions.
//
// With many channels lanes are channels and a wave does a run of up to 8
// neighbouring output positions, see windowTile; where lines of taps are too
// long for that, up to 8 positions with an address and a load per tap. With few
// channels lanes are elements of the output and load their own table entries.
type window struct {
	mode       windowMode
	w          opspec.Window
	rows       int // output positions
	batches    int
	inC, outC  int
	multiplier int
	weights    []float32 // [taps][outC], depthwise only
	bias       []float32
	lo, hi     float32
	in, out    *tensor

	tile  int // positions per wave
	group int // taps per step
	steps int
	flat  bool // lanes are output elements
}

func (l *lowering) depthwise(c *opspec.Conv, in, out *tensor, w, bias []float32) error {
	k := &window{mode: depthwise, w: c.Window, rows: c.N * c.OutH * c.OutW, batches: c.N, inC: c.C, outC: c.K,
		multiplier: c.Multiplier, weights: w, bias: bias, in: in, out: out}
	k.lo, k.hi = opspec.FloatActRange(c.Act)
	l.window(k)
	return nil
}

// pool lowers AVERAGE_POOL_2D and MAX_POOL_2D.
func (l *lowering) pool(op *nn.Operation) error {
	p, err := l.view.Pool(op)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(p.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	rows := p.N * p.OutH * p.OutW
	if rows == 0 || p.C == 0 {
		return fmt.Errorf("%s: empty tensor", op.Type)
	}
	if rows > maxTable/(p.KH*p.KW) {
		return fmt.Errorf("%s: %d positions of %d taps are too many", op.Type, rows, p.KH*p.KW)
	}
	in, out, err := l.pair(p.Input, p.Output)
	if err != nil {
		return err
	}
	k := &window{mode: average, w: p.Window, rows: rows, batches: p.N, inC: p.C, outC: p.C, multiplier: 1, in: in, out: out}
	if op.Type == nn.OpMaxPool2D {
		k.mode = maximum
	}
	k.lo, k.hi = opspec.FloatActRange(p.Act)
	l.window(k)
	return nil
}

func (l *lowering) window(k *window) {
	k.in = l.inArena(k.in)
	l.needZero(k.inC * k.in.elem.bytes())
	if k.mode == maximum {
		l.lowest[k.in.elem] = true
	}
	k.tile = min(8, k.rows)
	n := k.w.KH * k.w.KW
	k.group = n
	if n > 12 {
		best := n * 2
		for g := 12; g >= 5; g-- {
			if c := (n + g - 1) / g * g; c < best {
				best, k.group = c, g
			}
		}
	}
	k.steps = (n + k.group - 1) / k.group
	k.flat = k.outC <= 16
	if k.flat {
		k.tile = 1
	}
	l.add([]*tensor{k.in}, []*tensor{k.out}, k.emit)
}

// stride is the length of a table row.
func (k *window) stride() int { return (k.group + 3) / 4 * 4 }

// table is [tile][step][position][tap] of arena offsets. Padding reads zeros,
// or for a maximum one of the other taps again. counts are the taps inside, as
// float32, per position.
func (k *window) table(c *constants) (table, counts uint32) {
	tiles := (k.rows + k.tile - 1) / k.tile
	per := k.steps * k.tile * k.stride()
	t := make([]uint32, tiles*per)
	n := make([]uint32, tiles*k.tile)
	one := make([]uint32, k.steps*k.group) // of a position
	es := k.in.elem.bytes()
	inside := 0
	total := k.w.KH * k.w.KW
	valid := uint32(0)
	put := func(row int) {
		for i, v := range one {
			if v == 0 && k.mode == maximum {
				v = valid
			}
			t[row/k.tile*per+(i/k.group*k.tile+row%k.tile)*k.stride()+i%k.group] = v
		}
		n[row] = math.Float32bits(float32(inside))
	}
	taps(&k.w, k.batches, k.inC, func(row, tap, i int) {
		if tap == 0 {
			inside = 0
			clear(one)
		}
		if i >= 0 {
			one[tap] = k.in.off + uint32(i*es)
			valid = one[tap]
			inside++
		}
		if tap == total-1 {
			put(row)
		}
	})
	for row := k.rows; row < tiles*k.tile; row++ {
		put(row)
	}
	return c.words(t), c.words(n)
}

func (k *window) name() string { return [...]string{"depthwise", "average", "maximum"}[k.mode] }

// start is the accumulator before the first tap.
func (k *window) start() float32 {
	if k.mode == maximum {
		return float32(math.Inf(-1))
	}
	return 0
}

func (k *window) emit(l *lowering) (*launch, error) {
	if k.flat {
		return k.emitFlat(l)
	}
	if t, ok := k.tiled(); ok {
		return k.emitTiled(l, &t)
	}
	a := l.newAsm(k.name())
	es := k.in.elem.bytes()
	ch := a.lane(32)
	if k.outC%32 != 0 {
		a.Emit(rdna2.V_CMPX_GT_U32_E32, k.outC, ch)
	}
	inCh := ch
	if k.multiplier > 1 {
		inCh, _ = a.vDivConst(ch, k.multiplier, "input channel")
	}
	chOff := a.shiftLeft(inCh, k.in.elem.shift(), "channel offset")
	table, counts := k.table(&l.consts)
	tab := a.cursor(consts, table, "table")
	a.advance(tab, a.mulConst(a.Workgroup(1), 4*k.steps*k.tile*k.stride(), "tile"))
	wOff := codegen.Reg{}
	var wPtr codegen.Reg
	if k.mode == depthwise {
		wPtr = a.cursor(consts, k.packWeights(&l.consts), "weights")
		wOff = a.shiftLeft(ch, 2, "weight offset")
	}
	var acc []codegen.Reg
	for range k.tile {
		r := a.v("acc")
		a.Emit(rdna2.V_MOV_B32_E32, r, k.start())
		acc = append(acc, r)
	}
	a.loop(k.steps, "step", func() {
		var w []codegen.Reg
		if k.mode == depthwise {
			for range k.group {
				d := a.v("weight")
				a.Emit(rdna2.GLOBAL_LOAD_DWORD_SADDR, d, wPtr, wOff, 0)
				a.advance(wPtr, 4*k.outC)
				w = append(w, d)
			}
		}
		next := a.scalars(tab, 0, k.stride())
		var before []codegen.Reg
		for r := range k.tile + 1 {
			var x []codegen.Reg
			if r < k.tile {
				a.WaitScalar()
				now := next
				if r+1 < k.tile {
					next = a.scalars(tab, 4*(r+1)*k.stride(), k.stride())
				}
				for i := range k.group {
					addr := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("address"), now[i], chOff)
					x = append(x, a.load(k.in.elem, a.base(arena), addr, 0, "tap"))
				}
			}
			for i := range before {
				k.apply(a, acc[r-1], before[i], w, i)
			}
			before = x
		}
		if k.steps > 1 {
			a.advance(tab, 4*k.tile*k.stride())
		}
	})
	var bias codegen.Reg
	if k.mode == depthwise {
		bias = a.load(f32, a.pointer(consts, k.packBias(&l.consts), "bias"), wOff, 0, "bias")
	}
	var cnt codegen.Reg
	if k.mode == average {
		p := a.cursor(consts, counts, "counts")
		a.advance(p, a.mulConst(a.Workgroup(1), 4*k.tile, "tile"))
		cnt = p
	}
	out := a.pointer(arena, k.out.off, "out")
	outOff := a.shiftLeft(ch, k.out.elem.shift(), "out offset")
	first := a.mulConst(a.Workgroup(1), k.tile, "first row")
	for r := range k.tile {
		x := acc[r]
		switch k.mode {
		case depthwise:
			x = a.op2(rdna2.V_ADD_F32_E32, a.v("sum"), bias, x)
		case average:
			c := a.s("count")
			a.Emit(rdna2.S_LOAD_DWORD_IMM, c, cnt, 4*r)
			x = a.divide(x, a.op1(rdna2.V_MOV_B32_E32, a.v("count"), c))
		}
		x = a.clamp(x, k.lo, k.hi)
		row := a.s("row")
		a.Emit(rdna2.S_ADD_U32, row, first, r)
		a.Emit(rdna2.S_MIN_U32, row, row, k.rows-1)
		off := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("place"), a.mulConst(row, k.outC*es, "row offset"), outOff)
		a.store(k.out.elem, out, off, a.narrow(k.out.elem, x), 0)
	}
	return a.finish((k.outC+31)/32*32, (k.rows+k.tile-1)/k.tile, 1, 32)
}

// scalars loads n words of a table, n a multiple of four.
func (a *asm) scalars(tab codegen.Reg, off, n int) []codegen.Reg {
	var out []codegen.Reg
	for n > 0 {
		m, class, op := 4, rdna2.S4, rdna2.S_LOAD_DWORDX4_IMM
		if n >= 8 {
			m, class, op = 8, rdna2.S8, rdna2.S_LOAD_DWORDX8_IMM
		}
		d := a.Reg(class, "offsets")
		a.Emit(op, d, tab, off)
		for i := range m {
			out = append(out, sAt(d, i))
		}
		off += 4 * m
		n -= m
	}
	return out
}

// apply folds one tap into the accumulator.
func (k *window) apply(a *asm, acc, x codegen.Reg, w []codegen.Reg, i int) {
	switch {
	case k.mode == depthwise && k.in.elem == f16:
		rdna2.Mods{OpSelHi: 1}.With(a.Emit(rdna2.V_FMA_MIX_F32, acc, x, w[i], acc))
	case k.mode == depthwise:
		a.Emit(rdna2.V_FMAC_F32_E32, acc, x, w[i])
	case k.mode == average:
		a.Emit(rdna2.V_ADD_F32_E32, acc, acc, a.widen(k.in.elem, x))
	default:
		a.Emit(rdna2.V_MAX_F32_E32, acc, acc, a.widen(k.in.elem, x))
	}
}

// packWeights is [taps padded to whole steps][channels] in float32.
func (k *window) packWeights(c *constants) uint32 {
	off := c.reserve(4*k.steps*k.group*k.outC + guard)
	for i, w := range k.weights {
		binary.LittleEndian.PutUint32(c.data[int(off)+4*i:], math.Float32bits(w))
	}
	return off
}

func (k *window) packBias(c *constants) uint32 {
	off := c.reserve(4 * k.outC)
	for i, b := range k.bias {
		binary.LittleEndian.PutUint32(c.data[int(off)+4*i:], math.Float32bits(b))
	}
	return off
}

// columns is the table [tap][position] for lanes that load their own entries.
func (k *window) columns(c *constants) (table, counts uint32) {
	t := make([]uint32, k.steps*k.group*k.rows)
	n := make([]uint32, k.rows)
	es := k.in.elem.bytes()
	inside := 0
	valid := uint32(0)
	total := k.w.KH * k.w.KW
	taps(&k.w, k.batches, k.inC, func(row, tap, i int) {
		if tap == 0 {
			inside = 0
		}
		if i >= 0 {
			valid = k.in.off + uint32(i*es)
			t[tap*k.rows+row] = valid
			inside++
		}
		if tap == total-1 {
			n[row] = math.Float32bits(float32(inside))
			for at := row; k.mode == maximum && at < len(t); at += k.rows {
				if t[at] == 0 {
					t[at] = valid
				}
			}
		}
	})
	return c.words(t), c.words(n)
}

func (k *window) emitFlat(l *lowering) (*launch, error) {
	a := l.newAsm(k.name())
	lane := a.lane(flatGroup)
	pos, ch := a.vDivConst(lane, k.outC, "position")
	inCh := ch
	if k.multiplier > 1 {
		inCh, _ = a.vDivConst(ch, k.multiplier, "input channel")
	}
	chOff := a.shiftLeft(inCh, k.in.elem.shift(), "channel offset")
	posOff := a.shiftLeft(pos, 2, "entry offset")
	table, counts := k.columns(&l.consts)
	tab := a.cursor(consts, table, "table")
	var wPtr, wOff codegen.Reg
	if k.mode == depthwise {
		wPtr = a.cursor(consts, k.packWeights(&l.consts), "weights")
		wOff = a.shiftLeft(ch, 2, "weight offset")
	}
	acc := a.op1(rdna2.V_MOV_B32_E32, a.v("acc"), k.start())
	a.loop(k.steps, "step", func() {
		var x, w []codegen.Reg
		for range k.group {
			entry := a.load(f32, tab, posOff, 0, "entry")
			a.advance(tab, 4*k.rows)
			if k.mode == depthwise {
				w = append(w, a.load(f32, wPtr, wOff, 0, "weight"))
				a.advance(wPtr, 4*k.outC)
			}
			addr := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("address"), entry, chOff)
			x = append(x, a.load(k.in.elem, a.base(arena), addr, 0, "tap"))
		}
		for i := range x {
			k.apply(a, acc, x[i], w, i)
		}
	})
	x := acc
	switch k.mode {
	case depthwise:
		x = a.op2(rdna2.V_ADD_F32_E32, a.v("sum"), a.load(f32, a.pointer(consts, k.packBias(&l.consts), "bias"), wOff, 0, "bias"), x)
	case average:
		x = a.divide(x, a.load(f32, a.pointer(consts, counts, "counts"), posOff, 0, "count"))
	}
	x = a.narrow(k.out.elem, a.clamp(x, k.lo, k.hi))
	a.store(k.out.elem, a.pointer(arena, k.out.off, "out"), a.shiftLeft(lane, k.out.elem.shift(), "out offset"), x, 0)
	return a.finish(k.rows*k.outC, 1, 1, flatGroup)
}
