package model

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/mutation"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// mutationRows are the ids of the kinds of mutation.
var mutationRows = map[string]string{
	"mutateExecutionOrder": "E2-1", "mutateOperandType": "E2-2", "mutateOperandRank": "E2-3", "mutateOperandScale": "E2-4",
	"mutateOperandZeroPoint": "E2-5", "mutateOperandLifeTime": "E2-6", "mutateOperandInputOutput": "E2-7",
	"mutateOperandNumberOfConsumers": "E2-8", "mutateOperandAddWriter": "E2-9", "mutateOperationOperandType": "E2-10",
	"mutateOperationType": "E2-11", "mutateOperationInputOperandIndex": "E2-12", "mutateOperationOutputOperandIndex": "E2-13",
	"mutateOperationRemoveWrite": "E2-14", "removeOperand": "E2-15", "removeOperation": "E2-16", "removeOperationInput": "E2-17",
	"removeOperationOutput": "E2-18", "addOperationInput": "E2-19", "addOperationOutput": "E2-20",
	"mutateExecutionPreference": "E2-21", "mutateExecutionPriority": "E2-22",
}

// MutationChecks returns the checks of validateModel: every mutant is an invalid argument.
func MutationChecks() []check.Check {
	var list []check.Check
	for _, k := range mutation.Kinds {
		rows := []string{mutationRows[k.Name], "E1-8"}
		if k.Name == "mutateOperandNumberOfConsumers" {
			rows = append(rows, "I4-4")
		}
		list = append(list, check.Check{Name: "validateModel: " + k.Name, Rows: rows, EachDevice: true, Run: func(t *check.T) { mutants(t, k) }})
	}
	return list
}

func mutants(t *check.T, k mutation.Kind) {
	n := 0
	for _, m := range check.Seeds() {
		if _, err := t.Device.SupportedOperations(m); err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		for _, x := range k.Mutants(m) {
			n++
			if !x.OnlyPrepare {
				s, err := t.Device.SupportedOperations(x.Model)
				t.Check(hal.StatusOf(err) == hal.InvalidArgument && s == nil, "%s: %s: getSupportedOperations: %v", m.Name, x.What, err)
			}
			p, err := t.Device.PrepareModel(x.Model, x.Options)
			t.Check(hal.StatusOf(err) == hal.InvalidArgument && p == nil, "%s: %s: prepareModel: %v", m.Name, x.What, err)
		}
	}
	t.Check(n != 0, "there are no mutants")
}

// EditChecks returns the checks of models with edited bytes.
func EditChecks() []check.Check {
	return []check.Check{
		{Name: "edited models are refused, declined or executed", Rows: []string{"E8-1", "E8-2", "E8-3", "E8-4", "H2-8", "I4-11", "I4-13"}, Run: editedModels, EachDevice: true},
	}
}

// Edited is a copy of a model with edits, four bytes each: the kind of edit, the operand or operation, the place in it,
// and the value.
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
			o.Lifetime = nn.TemporaryVariable + nn.Lifetime(to%9-1)
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
func editedModels(t *check.T) {
	generator := check.V(randgraph.NewGenerator(8, nil))(t, "generator")
	refused := 0
	for i := range 40 {
		c := check.V(generator.Case(i, nil))(t, "random model")
		r := rand.New(rand.NewPCG(8, uint64(i)))
		edits := make([]byte, 4*r.IntN(4)) // none is a valid model
		for k := range edits {
			edits[k] = byte(r.Uint32())
		}
		m := t.Serialized(Edited(c.Model, edits))
		if slices.ContainsFunc(m.Main.Operands, func(o nn.Operand) bool { n := o.Elements(); return n < 0 || n > 1<<14 }) {
			continue
		}
		s, err := t.Device.SupportedOperations(m)
		t.Contained("getSupportedOperations", err)
		takes := err == nil && !slices.ContainsFunc(s, func(x hal.Support) bool { return !x.OK })
		p, err := t.Device.PrepareModel(m, hal.PrepareOptions{})
		t.Contained("prepareModel", err)
		t.Check(takes == (err == nil), "model %d with edits %v: support %v, prepareModel %v", i, edits, s, err)
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
		t.Contained("execute", err)
	}
	t.Check(refused != 0, "the edits break nothing")
}
