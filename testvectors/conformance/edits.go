package conformance

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

func editChecks() []Check {
	return []Check{
		{Name: "edited models are refused, declined or executed", Rows: []string{"E8-1", "E8-2", "E8-3", "E8-4"}, Run: editedModels, EachDevice: true},
	}
}

// Edited is a copy of a model with edits, four bytes each: what is changed, in which
// operand or operation, at which place, and to what.
func Edited(m *nn.Model, edits []byte) *nn.Model {
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

// editedModels sends random models with random edits through their serialized form to a
// device. What breaks a rule or is declined is an error of preparing, and nothing else is; no
// driver code panics.
func editedModels(t *T) {
	generator, err := randgraph.NewGenerator(8, nil)
	t.OK("generator", err)
	refused := 0
	for i := range 40 {
		c, err := generator.Case(i, nil)
		t.OK("random model", err)
		r := rand.New(rand.NewPCG(8, uint64(i)))
		edits := make([]byte, 4*r.IntN(4)) // none is a valid model
		for k := range edits {
			edits[k] = byte(r.Uint32())
		}
		m := t.serialized(Edited(c.Model, edits))
		if slices.ContainsFunc(m.Main.Operands, func(o nn.Operand) bool { n := o.Elements(); return n < 0 || n > 1<<14 }) {
			continue
		}
		s, err := t.Device.SupportedOperations(m)
		t.contained("getSupportedOperations", err)
		takes := err == nil && !slices.ContainsFunc(s, func(x hal.Support) bool { return !x.OK })
		p, err := t.Device.PrepareModel(m, hal.PrepareOptions{})
		t.contained("prepareModel", err)
		if takes != (err == nil) {
			t.Errorf("model %d with edits %v: support %v, prepareModel %v", i, edits, s, err)
		}
		if err != nil {
			refused++
			continue
		}
		b := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: true, LoopTimeout: time.Millisecond}}
		for _, x := range m.Main.Inputs {
			b.Inputs = append(b.Inputs, make([]byte, m.Main.Operands[x].Bytes()))
		}
		for _, x := range m.Main.Outputs {
			b.Outputs = append(b.Outputs, make([]byte, max(m.Main.Operands[x].Bytes(), 64)))
		}
		_, err = hal.Execute(p, b)
		t.contained("execute", err)
	}
	if refused == 0 {
		t.Errorf("the edits break nothing")
	}
}

// serialized is a model that was written and read again.
func (t *T) serialized(m *nn.Model) *nn.Model {
	w := &cache.Writer{}
	w.Model(m, true)
	r := cache.NewReader(w.Parts())
	c := r.Model()
	t.OK("a model that was written", r.End())
	return c
}

// contained fails for an error that hides a panic of driver code.
func (t *T) contained(call string, err error) {
	if err != nil && strings.Contains(err.Error(), "panic in ") {
		t.Errorf("%s: %v", call, err)
	}
}
