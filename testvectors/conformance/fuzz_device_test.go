package conformance_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// edited is a copy of a model with edits, four bytes each: what is changed, in which
// operand or operation, at which place, and to what.
func edited(m *nn.Model, edits []byte) *nn.Model {
	c := *m
	g := &c.Main
	g.Operands, g.Operations = slices.Clone(g.Operands), slices.Clone(g.Operations)
	g.Inputs, g.Outputs = slices.Clone(g.Inputs), slices.Clone(g.Outputs)
	operations := nn.Operations()
	odd := []uint32{0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 127, 128, 129, 255, 256, 1 << 12, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	for ; len(edits) >= 4; edits = edits[4:] {
		o, op := &g.Operands[int(edits[1])%len(g.Operands)], &g.Operations[int(edits[1])%len(g.Operations)]
		at, to := int(edits[2]), int(edits[3])
		value := odd[to%len(odd)]
		switch edits[0] % 12 {
		case 0:
			o.Type = nn.OperandType(to%18 - 1)
		case 1, 2:
			if o.Dimensions = slices.Clone(o.Dimensions); len(o.Dimensions) > 0 {
				o.Dimensions[at%len(o.Dimensions)] = value
			}
		case 3:
			o.Dimensions = slices.Insert(slices.Clone(o.Dimensions), at%(len(o.Dimensions)+1), value)
		case 4:
			o.Scale = []float32{0, 1, 1e-30, 1e30, -1, 1. / 256, 1. / 128, 0.5}[to%8]
		case 5:
			o.ZeroPoint = int32(at) - int32(to)
		case 6:
			o.Lifetime = nn.Lifetime(to%9 - 1)
		case 7, 8:
			if len(o.Data) == 4 {
				o.Data = binary.LittleEndian.AppendUint32(nil, value-1)
			} else if len(o.Data) > 0 {
				o.Data = slices.Clone(o.Data)
				o.Data[at%len(o.Data)] = byte(to)
			}
		case 9:
			if op.Inputs = slices.Clone(op.Inputs); len(op.Inputs) > 0 {
				op.Inputs[at%len(op.Inputs)] = uint32(to % (len(g.Operands) + 1))
			}
		case 10:
			op.Inputs = slices.Clone(op.Inputs[:min(at, len(op.Inputs))])
		case 11:
			op.Type = operations[to%len(operations)]
		}
	}
	return &c
}

// FuzzDevice: a random model with any edits is refused, declined with reasons, or prepared
// as declared and executed, by each of the devices.
func FuzzDevice(f *testing.F) {
	list := open(f)
	generator, err := randgraph.NewGenerator(1, nil)
	if err != nil {
		f.Fatal(err)
	}
	models := conformance.Models()
	for i := range 150 {
		c, err := generator.Case(i, nil)
		if err != nil {
			f.Fatal(err)
		}
		models = append(models, c.Model)
	}
	for i := range list {
		f.Add(uint8(i), uint16(0), []byte{})
		f.Add(uint8(i), uint16(40+i), []byte{1, 0, 0, 5})
		f.Add(uint8(i), uint16(90+i), []byte{11, 0, 0, 3, 4, 1, 0, 5})
	}
	f.Fuzz(func(t *testing.T, device uint8, model uint16, edits []byte) {
		d := list[int(device)%len(list)]
		m := edited(models[int(model)%len(models)], edits[:min(len(edits), 16)])
		for _, g := range append([]nn.Subgraph{m.Main}, m.Referenced...) {
			if slices.ContainsFunc(g.Operands, func(o nn.Operand) bool { n := o.Elements(); return n < 0 || n > 1<<16 }) {
				return // a large tensor takes time and shows nothing more
			}
		}
		s, err := d.SupportedOperations(m)
		sane(t, d.Name()+": getSupportedOperations", err)
		p, refused := d.PrepareModel(m, hal.PrepareOptions{})
		sane(t, d.Name()+": prepareModel", refused)
		takes := err == nil && !slices.ContainsFunc(s, func(x hal.Support) bool { return !x.OK })
		if takes != (refused == nil) {
			t.Fatalf("%s: support %v, %v; prepareModel: %v", d.Name(), s, err, refused)
		}
		if takes {
			execute(t, d, p, m)
		}
	})
}
