package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// rows copies a block of elements between two dense or strided places. Lanes
// move units of 16, 4, 2 or 1 bytes.
type rows struct {
	dims     []int // of the block, in elements
	from, to []int // strides in elements
	in, out  *tensor
	inAt     int // element at which the block begins
	outAt    int
}

func (l *lowering) rows(k *rows) { l.add([]*tensor{k.in}, []*tensor{k.out}, k.emit) }

func (k *rows) emit(l *lowering) (*launch, error) {
	a := l.newAsm("copy")
	es := k.in.elem.bytes()
	axes := collapse(k.dims, [][]int{k.from, k.to})
	inAt := k.inAt // of the lowest address
	for i := range axes {
		inAt += min(axes[i].strides[0], 0) * (axes[i].n - 1)
		// Strides in bytes.
		for j := range axes[i].strides {
			axes[i].strides[j] *= es
		}
	}
	last := &axes[len(axes)-1]
	unit := es
	if last.strides[0] == es && last.strides[1] == es {
		for _, u := range []int{16, 4, 2} {
			if u <= es || last.n*es%u != 0 || inAt*es%u != 0 || k.outAt*es%u != 0 {
				continue
			}
			fits := true
			for _, x := range axes[:len(axes)-1] {
				fits = fits && x.strides[0]%u == 0 && x.strides[1]%u == 0
			}
			if fits {
				unit = u
				last.n, last.strides = last.n*es/u, []int{u, u}
				break
			}
		}
	}
	n := 1
	for _, x := range axes {
		n *= x.n
	}
	offs := a.offsets(a.lane(flatGroup), axes, []int{0, 0})
	src := a.pointer(k.in.region, k.in.off+uint32(inAt*es), "in")
	dst := a.pointer(arena, k.out.off+uint32(k.outAt*es), "out")
	switch unit {
	case 16:
		d := a.Reg(rdna2.V4, "unit")
		a.Emit(rdna2.GLOBAL_LOAD_DWORDX4_SADDR, d, src, offs[0], 0)
		a.Emit(rdna2.GLOBAL_STORE_DWORDX4_SADDR, offs[1], d, dst, 0)
	default:
		e := map[int]element{4: f32, 2: f16, 1: u8}[unit]
		a.store(e, dst, offs[1], a.load(e, src, offs[0], 0, "unit"), 0)
	}
	return a.finish(n, 1, 1, flatGroup)
}

// copy lowers RESHAPE, SQUEEZE and EXPAND_DIMS.
func (l *lowering) copy(op *nn.Operation) error {
	c, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	x, out, err := l.pair(c.Input, c.Output)
	if err != nil {
		return err
	}
	if x != out { // they share their storage where nobody can tell
		l.rows(&rows{dims: []int{x.n}, from: []int{1}, to: []int{1}, in: x, out: out})
	}
	return nil
}

// concat lowers CONCATENATION: one copy per input.
func (l *lowering) concat(op *nn.Operation) error {
	c, err := l.view.Concat(op)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(c.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	out, err := l.value(c.Output)
	if err != nil {
		return err
	}
	total := 0
	for _, s := range c.Sizes {
		total += s
	}
	place := 0
	for i, x := range c.Inputs {
		if c.Sizes[i] == 0 {
			continue
		}
		in, err := l.value(x)
		if err != nil {
			return err
		}
		l.rows(&rows{dims: []int{c.Outer, c.Sizes[i]}, from: []int{c.Sizes[i], 1}, to: []int{total, 1}, in: in, out: out, outAt: place})
		place += c.Sizes[i]
	}
	return nil
}

// pad lowers PAD.
func (l *lowering) pad(op *nn.Operation) error {
	p, err := l.view.Pad(op)
	if err != nil {
		return err
	}
	if _, err := l.elementOf(p.Type); err != nil {
		return fmt.Errorf("%s: %w", op.Type, err)
	}
	in, out, err := l.pair(p.Input, p.Output)
	if err != nil {
		return err
	}
	l.padInto(in, out, ints(p.In), ints(p.Dims), p.Before)
	return nil
}

// fill writes zeros.
func (l *lowering) fill(t *tensor) {
	l.add(nil, []*tensor{t}, func(l *lowering) (*launch, error) {
		a := l.newAsm("fill")
		unit, n := t.elem, t.n
		off := a.shiftLeft(a.lane(flatGroup), unit.shift(), "offset")
		a.store(unit, a.pointer(arena, t.off, "out"), off, a.op1(rdna2.V_MOV_B32_E32, a.v("zero"), 0), 0)
		return a.finish(n, 1, 1, flatGroup)
	})
}
