package nn

import "iter"

// Operation applies one operation type to operands of its subgraph, which are
// named by index.
type Operation struct {
	Type    OperationType
	Inputs  []uint32
	Outputs []uint32
	// Name names the node of a model file that the operation computes, alone or with others; "" where there is none.
	Name string
}

// Subgraph is a list of operations in execution order over a table of operands.
type Subgraph struct {
	Name       string
	Operands   []Operand
	Operations []Operation
	Inputs     []uint32
	Outputs    []uint32
	// Consumers is numberOfConsumers of HAL 1.0 to 1.3: how many inputs of
	// operations name each operand. nil where the client does not state it.
	Consumers []uint32
}

// Model is a main subgraph and those that IF and WHILE refer to.
type Model struct {
	Name       string
	Main       Subgraph
	Referenced []Subgraph
	// States are the values that repeated invocations carry on. The HAL knows
	// them as inputs and outputs only.
	States []State
	// Relaxed permits float32 operations to compute with the range and
	// precision of float16.
	Relaxed bool
	// Extensions is extensionNameToPrefix of HAL 1.2 and 1.3: which extension the codes of
	// operand types and operations with a prefix are of.
	Extensions []ExtensionPrefix
}

// FusedActivation is the activation code that many operations carry.
type FusedActivation int32

// Fused activation codes.
const (
	ActNone  FusedActivation = 0
	ActRelu  FusedActivation = 1
	ActRelu1 FusedActivation = 2
	ActRelu6 FusedActivation = 3
)

// Implicit padding codes.
const (
	PaddingSame  = 1
	PaddingValid = 2
)

// State is a value that a model carries from one invocation to the next: its
// caller feeds the output back as the input.
type State struct {
	Input  int // position in Main.Inputs
	Output int // position in Main.Outputs
	// Initial is the value of the first invocation; nil is all bytes zero.
	Initial []byte
}

// Subgraphs yields the main subgraph and the referenced ones.
func (m *Model) Subgraphs() iter.Seq[*Subgraph] {
	return func(yield func(*Subgraph) bool) {
		if !yield(&m.Main) {
			return
		}
		for i := range m.Referenced {
			if !yield(&m.Referenced[i]) {
				return
			}
		}
	}
}
