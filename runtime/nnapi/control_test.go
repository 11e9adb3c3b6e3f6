package nnapi_test

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// loopParts describe a model of one IF or WHILE: the condition, the body, which is both
// branches of the IF, and what the operation binds to them.
type loopParts struct {
	operation      nn.OperationType
	flag           nnapi.OperandType // the IF's condition, or the result of the WHILE's
	enters, leaves nnapi.OperandType // of the body
	given, result  nnapi.OperandType // of the operation
	outputs        int               // of the body
	results        int               // of the operation
}

// inner finishes a model that computes each output by an operation that is valid alone:
// EQUAL yields flags, CAST another type, CONCATENATION another scale, RESHAPE another shape.
func inner(in, out nnapi.OperandType, outputs int) *nnapi.Model {
	m := nnapi.NewModel()
	must(m.AddOperand(in))
	var leave []uint32
	for k := range outputs {
		x := uint32(2*k + 1)
		must(m.AddOperand(out))
		concatenated := out.Scale != in.Scale || out.ZeroPoint != in.ZeroPoint
		if concatenated {
			must(m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
		} else {
			must(m.AddOperand(nnapi.OperandType{Type: nn.TensorInt32, Dimensions: []uint32{uint32(len(out.Dimensions))}}))
		}
		switch {
		case out.Type == nn.TensorBool8:
			must(m.SetOperandValue(x+1, nil))
			must(m.AddOperation(nn.OpEqual, []uint32{0, 0}, []uint32{x}))
		case out.Type != in.Type:
			must(m.SetOperandValue(x+1, nil))
			must(m.AddOperation(nn.OpCast, []uint32{0}, []uint32{x}))
		case concatenated:
			must(m.SetOperandValue(x+1, make([]byte, 4)))
			must(m.AddOperation(nn.OpConcatenation, []uint32{0, x + 1}, []uint32{x}))
		default:
			var shape []byte
			for _, d := range out.Dimensions {
				shape = append(shape, byte(d), 0, 0, 0)
			}
			must(m.SetOperandValue(x+1, shape))
			must(m.AddOperation(nn.OpReshape, []uint32{0, x + 1}, []uint32{x}))
		}
		leave = append(leave, x)
	}
	must(m.IdentifyInputsAndOutputs([]uint32{0}, leave))
	must(m.Finish())
	return m
}

// add builds the model and returns what Model_addOperation says.
func (p loopParts) add() error {
	body := inner(p.enters, p.leaves, p.outputs)
	m := nnapi.NewModel()
	for _, t := range []nnapi.OperandType{{Type: nn.SubgraphRef}, {Type: nn.SubgraphRef}, p.given} {
		must(m.AddOperand(t))
	}
	must(m.SetOperandValueFromModel(1, body))
	inputs, operands := []uint32{2}, []uint32{0, 1, 2}
	results := make([]uint32, p.results)
	for k := range results {
		results[k] = uint32(3 + k)
		must(m.AddOperand(p.result))
	}
	if p.operation == nn.OpIf {
		must(m.SetOperandValueFromModel(0, body))
		flag := uint32(3 + p.results)
		must(m.AddOperand(p.flag))
		inputs, operands = []uint32{2, flag}, []uint32{flag, 0, 1, 2}
	} else {
		must(m.SetOperandValueFromModel(0, inner(p.enters, p.flag, 1)))
	}
	if err := m.AddOperation(p.operation, operands, results); err != nil {
		return err
	}
	must(m.IdentifyInputsAndOutputs(inputs, results))
	must(m.Finish())
	return nil
}

// TestControlOperation: an IF or WHILE whose models do not fit what it binds is BAD_DATA when
// it is added.
func TestControlOperation(t *testing.T) {
	tensor := func(typ nn.OperandType, dims ...uint32) nnapi.OperandType {
		return nnapi.OperandType{Type: typ, Dimensions: dims}
	}
	number, pair, integer, column := tensor(nn.TensorFloat32, 1), tensor(nn.TensorFloat32, 2), tensor(nn.TensorInt32, 1), tensor(nn.TensorFloat32, 1, 1)
	quantized := func(p *loopParts, leaves, result nnapi.OperandType) {
		p.given = nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: 0.5, ZeroPoint: 3}
		p.enters, p.leaves, p.result = p.given, p.given, p.given
		p.leaves.Scale, p.leaves.ZeroPoint = leaves.Scale, leaves.ZeroPoint
		p.result.Scale, p.result.ZeroPoint = result.Scale, result.ZeroPoint
	}
	same, scale, zero := nnapi.OperandType{Scale: 0.5, ZeroPoint: 3}, nnapi.OperandType{Scale: 0.25, ZeroPoint: 3}, nnapi.OperandType{Scale: 0.5, ZeroPoint: 4}
	for _, c := range []struct {
		name         string
		change       func(p *loopParts)
		branch, loop bool // valid
	}{
		{"nothing changed", func(*loopParts) {}, true, true},
		{"an open shape", func(p *loopParts) { p.result = tensor(nn.TensorFloat32, 0) }, true, true},
		{"two outputs for one result", func(p *loopParts) { p.outputs = 2 }, false, false},
		{"one output for two results", func(p *loopParts) { p.results = 2 }, false, false},
		{"state that leaves as another type", func(p *loopParts) { p.leaves = integer }, false, false},
		{"state and result of another type", func(p *loopParts) { p.leaves, p.result = integer, integer }, true, false},
		{"state that leaves in another shape", func(p *loopParts) { p.leaves = column }, false, false},
		{"state and result of another shape", func(p *loopParts) { p.leaves, p.result = column, column }, true, false},
		{"a result of another type", func(p *loopParts) { p.result = integer }, false, false},
		{"a result of another shape", func(p *loopParts) { p.result = column }, false, false},
		{"an input of another type", func(p *loopParts) { p.given = integer }, false, false},
		{"an input of another shape", func(p *loopParts) { p.given = column }, false, false},
		{"two flags", func(p *loopParts) {
			p.enters, p.leaves, p.given, p.result, p.flag = pair, pair, pair, pair, tensor(nn.TensorBool8, 2)
		}, false, false},
		{"quantized values", func(p *loopParts) { quantized(p, same, same) }, true, true},
		{"state that leaves with another scale", func(p *loopParts) { quantized(p, scale, same) }, false, false},
		{"state and result of another scale", func(p *loopParts) { quantized(p, scale, scale) }, true, false},
		{"state that leaves with another zero point", func(p *loopParts) { quantized(p, zero, same) }, false, false},
		{"a result of another zero point", func(p *loopParts) { quantized(p, same, zero) }, false, false},
	} {
		for _, operation := range []nn.OperationType{nn.OpIf, nn.OpWhile} {
			p := loopParts{operation: operation, flag: tensor(nn.TensorBool8, 1), enters: number, leaves: number, given: number, result: number, outputs: 1, results: 1}
			c.change(&p)
			code := nnapi.BadData
			if c.branch && operation == nn.OpIf || c.loop && operation == nn.OpWhile {
				code = nnapi.NoError
			}
			want(t, fmt.Sprintf("%v with %s", operation, c.name), p.add(), code)
		}
	}
}
