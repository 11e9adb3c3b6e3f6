package gpu

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// damage changes a copy of a model the way a careless or hostile client would.
func damage(m *nn.Model, r *rand.Rand) *nn.Model {
	c := *m
	g := &c.Main
	g.Operands = append([]nn.Operand(nil), g.Operands...)
	g.Operations = append([]nn.Operation(nil), g.Operations...)
	g.Inputs = append([]uint32(nil), g.Inputs...)
	g.Outputs = append([]uint32(nil), g.Outputs...)
	odd := []uint32{0, 1, 2, 3, 5, 16, 255, 1 << 12, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	pick := func() uint32 { return odd[r.IntN(len(odd))] }
	for range 1 + r.IntN(3) {
		o := &g.Operands[r.IntN(len(g.Operands))]
		op := &g.Operations[r.IntN(len(g.Operations))]
		switch r.IntN(10) {
		case 0:
			o.Type = nn.OperandType(r.IntN(18) - 1)
		case 1, 2:
			o.Dimensions = append([]uint32(nil), o.Dimensions...)
			if len(o.Dimensions) > 0 {
				o.Dimensions[r.IntN(len(o.Dimensions))] = pick()
			}
		case 3:
			o.Dimensions = append(append([]uint32(nil), o.Dimensions...), pick())
		case 4:
			o.Lifetime = nn.Lifetime(r.IntN(9) - 1)
		case 5, 6, 7:
			if len(o.Data) == 4 {
				o.Data = binary.LittleEndian.AppendUint32(nil, pick()-1)
			} else if len(o.Data) > 0 {
				o.Data = o.Data[:r.IntN(len(o.Data))]
			}
		case 8:
			op.Inputs = append([]uint32(nil), op.Inputs...)
			op.Inputs[r.IntN(len(op.Inputs))] = uint32(r.IntN(len(g.Operands) + 2))
		case 9:
			op.Type = append(nn.Operations(), -1, nn.OperationType(nn.OperationCount))[r.IntN(len(nn.Operations())+2)]
		}
	}
	return &c
}

// tryModel asks about a model and, when it is small and supported, compiles and
// runs it. It reports whether the model ran.
func tryModel(t *testing.T, d *Device, m *nn.Model) bool {
	sup, err := d.SupportedOperations(m)
	if err != nil {
		return false
	}
	for _, s := range sup {
		if !s.OK {
			if s.Reason == "" {
				t.Error("an operation is declined without a reason")
			}
			return false
		}
	}
	total := int64(0)
	for i := range m.Main.Operands {
		if b := m.Main.Operands[i].Bytes(); b > 0 {
			total += b
		}
	}
	if total > 1<<20 {
		return false
	}
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		return false
	}
	r := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: true}}
	for _, x := range m.Main.Inputs {
		if !m.Main.Operands[x].Known() {
			return true // a size that an execution brings may be one that does not fit
		}
		r.Inputs = append(r.Inputs, make([]byte, max(m.Main.Operands[x].Bytes(), 0)))
	}
	for _, x := range m.Main.Outputs {
		r.Outputs = append(r.Outputs, make([]byte, max(m.Main.Operands[x].Bytes(), 0)))
	}
	if _, err := hal.Execute(p, r); err != nil && hal.StatusOf(err) == hal.GeneralFailure {
		t.Errorf("a model that was accepted fails: %v", err)
	}
	return true
}

// hostileBases are models with every kind of kernel.
func hostileBases() []*nn.Model {
	var list []*nn.Model
	for _, c := range append(append([]convCase(nil), convCases...), depthwiseCases...) {
		b, _ := c.build(nn.TensorFloat32)
		list = append(list, &b.m)
	}
	add := func(f func(b *modelBuilder)) {
		b := newModel(nn.TensorFloat16)
		f(b)
		list = append(list, &b.m)
	}
	add(func(b *modelBuilder) {
		x, _ := b.input(1, 2, 3, 4, 5)
		y, _ := b.input(1, 4, 1)
		b.op(nn.OpAdd, b.output(2, 3, 4, 5), x, y, b.i32(1))
	})
	add(func(b *modelBuilder) {
		x, _ := b.input(1, 2, 3, 4)
		b.op(nn.OpSoftmax, b.output(2, 3, 4), x, b.scalar(1), b.i32(1))
	})
	add(func(b *modelBuilder) {
		x, _ := b.input(1, 2, 3, 4)
		b.op(nn.OpMean, b.output(2, 4), x, b.i32s([]uint32{1}, 1), b.i32(0))
	})
	add(func(b *modelBuilder) {
		x, _ := b.input(1, 2, 3)
		b.op(nn.OpPad, b.output(4, 6), x, b.i32s([]uint32{2, 2}, 1, 1, 0, 3))
	})
	add(func(b *modelBuilder) {
		x, _ := b.input(1, 2, 3)
		y, _ := b.input(1, 2, 2)
		b.op(nn.OpConcatenation, b.output(2, 5), x, y, b.i32(1))
	})
	add(func(b *modelBuilder) {
		x, _ := b.input(1, 1, 6, 6, 20)
		z, o, k := b.i32(0), b.i32(1), b.i32(3)
		b.op(nn.OpMaxPool2D, b.output(1, 6, 6, 20), x, o, o, o, o, o, o, k, k, z)
	})
	add(func(b *modelBuilder) {
		x, _ := b.input(1, 6, 4)
		b.op(nn.OpReshape, b.output(8, 3), x, b.i32s([]uint32{2}, 8, -1))
	})
	return list
}

// TestHostileModels: damaged models are declined, refused or run; nothing
// panics, and what was accepted does not fault.
func TestHostileModels(t *testing.T) {
	d := newDevice(t)
	bases := hostileBases()
	r := rand.New(rand.NewPCG(31, 32))
	n := 3000
	if testing.Short() {
		n = 500
	}
	ran := 0
	for range n {
		if tryModel(t, d, damage(bases[r.IntN(len(bases))], r)) {
			ran++
		}
	}
	t.Logf("%d of %d damaged models run", ran, n)
	if ran == 0 || ran == n {
		t.Error("the damage tests nothing")
	}
}

func FuzzModel(f *testing.F) {
	bases := hostileBases()
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		tryModel(t, newDevice(t), damage(bases[r.IntN(len(bases))], r))
	})
}
