package mutation

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// oem is the first code that NNAPI left to vendors, for types and operations.
const oem = 10000

func operandType(m *nn.Model) []Mutant {
	return operands(m, func(l *list, i int, _ *nn.Operand) {
		for _, t := range []nn.OperandType{-1, nn.SubgraphRef + 1, oem - 1, oem, oem + 1, oem + 2} {
			l.add(func(g *nn.Subgraph) { g.Operands[i].Type = t }, "operand %d has type %d", i, t)
		}
	})
}

func operandRank(m *nn.Model) []Mutant {
	return operands(m, func(l *list, i int, o *nn.Operand) {
		if o.Type.IsScalar() {
			l.add(func(g *nn.Subgraph) { g.Operands[i].Dimensions = []uint32{1} }, "scalar operand %d has rank 1", i)
		}
	})
}

// scaled are the types with one scale, and whether it may be 0.
var scaled = map[nn.OperandType]bool{
	nn.TensorInt32: true, nn.TensorQuant8Asymm: false, nn.TensorQuant8AsymmSigned: false, nn.TensorQuant8Symm: false,
	nn.TensorQuant16Symm: false, nn.TensorQuant16Asymm: false,
}

func operandScale(m *nn.Model) []Mutant {
	return operands(m, func(l *list, i int, o *nn.Operand) {
		bad := []float32{-1, float32(math.NaN()), float32(math.Inf(1))}
		zero, has := scaled[o.Type]
		switch {
		case !has:
			bad = append(bad, 1)
		case !zero:
			bad = append(bad, 0)
		}
		for _, s := range bad {
			l.add(func(g *nn.Subgraph) { g.Operands[i].Scale = s }, "operand %d (%v) has scale %v", i, o.Type, s)
		}
	})
}

func operandZeroPoint(m *nn.Model) []Mutant {
	ranges := map[nn.OperandType][2]int32{
		nn.TensorQuant8Asymm: {0, 255}, nn.TensorQuant8AsymmSigned: {-128, 127}, nn.TensorQuant16Asymm: {0, 65535},
	}
	return operands(m, func(l *list, i int, o *nn.Operand) {
		r := ranges[o.Type] // 0 only, without a range
		for _, z := range []int32{r[0] - 1, r[1] + 1} {
			l.add(func(g *nn.Subgraph) { g.Operands[i].ZeroPoint = z }, "operand %d (%v) has zero point %d", i, o.Type, z)
		}
	})
}

// operandLifetime sets a lifetime of an operand that its place in the model contradicts.
func operandLifetime(m *nn.Model) []Mutant {
	constant := func(t nn.Lifetime) bool { return t == nn.ConstantCopy || t == nn.ConstantReference }
	return operands(m, func(l *list, i int, o *nn.Operand) {
		for t := nn.TemporaryVariable - 1; t <= nn.LifetimeSubgraph+1; t++ {
			if t == o.Lifetime || constant(t) && constant(o.Lifetime) {
				continue
			}
			l.add(func(g *nn.Subgraph) { g.Operands[i].Lifetime = t }, "operand %d (%v) has lifetime %v", i, o.Lifetime, t)
		}
	})
}

// operandInputOutput lists an operand as an input or output of the model against its lifetime, or drops it from the
// lists.
func operandInputOutput(m *nn.Model) []Mutant {
	drop := func(list []uint32, x uint32) []uint32 {
		var kept []uint32
		for _, y := range list {
			if y != x {
				kept = append(kept, y)
			}
		}
		return kept
	}
	return operands(m, func(l *list, i int, o *nn.Operand) {
		x := uint32(i)
		if o.Lifetime == nn.SubgraphInput {
			l.add(func(g *nn.Subgraph) { g.Inputs = drop(g.Inputs, x) }, "input %d is not listed", i)
		} else {
			l.add(func(g *nn.Subgraph) { g.Inputs = append(g.Inputs, x) }, "operand %d (%v) is listed as an input", i, o.Lifetime)
		}
		if o.Lifetime == nn.SubgraphOutput {
			l.add(func(g *nn.Subgraph) { g.Outputs = drop(g.Outputs, x) }, "output %d is not listed", i)
		} else {
			l.add(func(g *nn.Subgraph) { g.Outputs = append(g.Outputs, x) }, "operand %d (%v) is listed as an output", i, o.Lifetime)
		}
	})
}

// operandConsumers states one reader too many, and too few.
func operandConsumers(m *nn.Model) []Mutant {
	count := make([]uint32, len(m.Main.Operands))
	for i := range m.Main.Operations {
		for _, x := range m.Main.Operations[i].Inputs {
			count[x]++
		}
	}
	return operands(m, func(l *list, i int, _ *nn.Operand) {
		for _, d := range []uint32{1, math.MaxUint32} {
			n := count[i] + d
			l.add(func(g *nn.Subgraph) {
				g.Consumers = append([]uint32(nil), count...)
				g.Consumers[i] = n
			}, "operand %d states %d consumers, it has %d", i, n, count[i])
		}
	})
}

// operandAddWriter writes an operand a second time, or one that nothing may
// write.
func operandAddWriter(m *nn.Model) []Mutant {
	return operands(m, func(l *list, i int, _ *nn.Operand) {
		for k := range m.Main.Operations {
			l.add(func(g *nn.Subgraph) {
				op := g.Operations[k]
				op.Outputs = append([]uint32(nil), op.Outputs...)
				op.Outputs[0] = uint32(i)
				g.Operations = append(g.Operations, op)
			}, "a copy of operation %d writes operand %d", k, i)
		}
	})
}

// removeOperand removes an operand that operations use: indexes after it move.
func removeOperand(m *nn.Model) []Mutant {
	return operands(m, func(l *list, i int, _ *nn.Operand) {
		l.add(func(g *nn.Subgraph) {
			g.Operands = append(g.Operands[:i:i], g.Operands[i+1:]...)
			move := func(list []uint32) []uint32 {
				var kept []uint32
				for _, x := range list {
					switch {
					case x < uint32(i):
						kept = append(kept, x)
					case x > uint32(i):
						kept = append(kept, x-1)
					}
				}
				return kept
			}
			for k := range g.Operations {
				op := &g.Operations[k]
				op.Inputs, op.Outputs = move(op.Inputs), move(op.Outputs)
			}
			g.Inputs, g.Outputs = move(g.Inputs), move(g.Outputs)
		}, "operand %d is removed", i)
	})
}
