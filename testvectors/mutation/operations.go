package mutation

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// executionOrder moves an operation before one that writes its input.
func executionOrder(m *nn.Model) []Mutant {
	return operations(m, func(l *list, i int, op *nn.Operation) {
		for k := range i {
			if slices.ContainsFunc(m.Main.Operations[k].Outputs, func(x uint32) bool { return slices.Contains(op.Inputs, x) }) {
				l.add(func(g *nn.Subgraph) { g.Operations[k], g.Operations[i] = g.Operations[i], g.Operations[k] },
					"operation %d runs before operation %d, whose result it reads", i, k)
			}
		}
	})
}

// operationOperandType sets the type of an operand of an operation to every other type. Attributes that the type
// forbids are removed.
func operationOperandType(m *nn.Model) []Mutant {
	return operations(m, func(l *list, i int, op *nn.Operation) {
		for k, x := range append(slices.Clone(op.Inputs), op.Outputs...) {
			was := m.Main.Operands[x].Type
			for t := nn.OperandType(0); t.Valid(); t++ {
				if t == was || legal(op.Type, k, was, t) {
					continue
				}
				l.add(func(g *nn.Subgraph) { retype(&g.Operands[x], t) }, "operand %d of operation %d (%v) is %v, not %v", x, i, op.Type, t, was)
			}
		}
	})
}

// legal reports whether operand k of an operation may have the other type, too:
// the exceptions of VTS.
func legal(op nn.OperationType, k int, was, t nn.OperandType) bool {
	filter := op == nn.OpConv2D || op == nn.OpDepthwiseConv2D || op == nn.OpFullyConnected
	return filter && k == 1 && was.IsQuant8() && t == nn.TensorQuant8SymmPerChannel
}

// retype changes a type and makes the operand fit it otherwise.
func retype(o *nn.Operand, t nn.OperandType) {
	constant := o.IsConst()
	o.Type, o.Scale, o.ZeroPoint, o.Channel = t, 0, 0, nil
	if may0, has := scaled[t]; has && !may0 {
		o.Scale = 1
	}
	if t.IsScalar() {
		o.Dimensions = nil
	} else if len(o.Dimensions) == 0 {
		o.Dimensions = []uint32{1}
	}
	if t == nn.TensorQuant8SymmPerChannel {
		o.Channel = &nn.ChannelQuant{Scales: slices.Repeat([]float32{1}, int(o.Dimensions[0]))}
	}
	if constant {
		n := int64(t.ElementBytes())
		if !t.IsScalar() {
			n = o.Bytes()
		}
		o.Data = make([]byte, n)
	}
}

func operationType(m *nn.Model) []Mutant {
	return operations(m, func(l *list, i int, _ *nn.Operation) {
		for _, t := range []nn.OperationType{-1, nn.OperationType(nn.OperationCount), oem - 1, oem + 1} {
			l.add(func(g *nn.Subgraph) { g.Operations[i].Type = t }, "operation %d has code %d", i, t)
		}
	})
}

// operationIndex names operands that do not exist.
func operationIndex(side func(*nn.Operation) *[]uint32) func(m *nn.Model) []Mutant {
	return func(m *nn.Model) []Mutant {
		return operations(m, func(l *list, i int, op *nn.Operation) {
			for k := range *side(op) {
				for _, x := range []uint32{uint32(len(m.Main.Operands)), math.MaxInt32, math.MaxUint32} {
					l.add(func(g *nn.Subgraph) { (*side(&g.Operations[i]))[k] = x }, "operation %d names operand %d", i, x)
				}
			}
		})
	}
}

// operationRemoveWrite lets an operation write a new operand, so that nothing
// writes the one it wrote.
func operationRemoveWrite(m *nn.Model) []Mutant {
	return operations(m, func(l *list, i int, op *nn.Operation) {
		for k, x := range op.Outputs {
			l.add(func(g *nn.Subgraph) {
				fresh := g.Operands[x]
				fresh.Lifetime = nn.TemporaryVariable
				g.Operations[i].Outputs[k] = uint32(len(g.Operands))
				g.Operands = append(g.Operands, fresh)
			}, "operation %d does not write operand %d", i, x)
		}
	})
}

func removeOperation(m *nn.Model) []Mutant {
	return operations(m, func(l *list, i int, _ *nn.Operation) {
		l.add(func(g *nn.Subgraph) { g.Operations = slices.Delete(g.Operations, i, i+1) }, "operation %d is removed", i)
	})
}

func removeFrom(side func(*nn.Operation) *[]uint32) func(m *nn.Model) []Mutant {
	return func(m *nn.Model) []Mutant {
		return operations(m, func(l *list, i int, op *nn.Operation) {
			for k := range *side(op) {
				l.add(func(g *nn.Subgraph) {
					s := side(&g.Operations[i])
					*s = slices.Delete(*s, k, k+1)
				}, "operation %d (%v) lacks an operand, number %d", i, op.Type, k)
			}
		})
	}
}

// addTo adds an operand to an operation: a temporary as its first output, which it reads too late or writes as well.
func addTo(side func(*nn.Operation) *[]uint32) func(m *nn.Model) []Mutant {
	return func(m *nn.Model) []Mutant {
		return operations(m, func(l *list, i int, op *nn.Operation) {
			l.add(func(g *nn.Subgraph) {
				extra := g.Operands[op.Outputs[0]]
				extra.Lifetime = nn.TemporaryVariable
				if side(op) == &op.Inputs {
					extra.Lifetime = nn.SubgraphInput
					g.Inputs = append(g.Inputs, uint32(len(g.Operands)))
				}
				s := side(&g.Operations[i])
				*s = append(*s, uint32(len(g.Operands)))
				g.Operands = append(g.Operands, extra)
			}, "operation %d (%v) has an operand more", i, op.Type)
		})
	}
}

func options(m *nn.Model, set func(o *hal.PrepareOptions, v int32), what string) []Mutant {
	var list []Mutant
	for _, v := range []int32{-1, 3} {
		x := Mutant{Model: Clone(m), OnlyPrepare: true, What: what}
		set(&x.Options, v)
		list = append(list, x)
	}
	return list
}

func executionPreference(m *nn.Model) []Mutant {
	return options(m, func(o *hal.PrepareOptions, v int32) { o.Preference = hal.Preference(v) }, "execution preference out of range")
}

func executionPriority(m *nn.Model) []Mutant {
	return options(m, func(o *hal.PrepareOptions, v int32) { o.Priority = hal.Priority(v) }, "priority out of range")
}
