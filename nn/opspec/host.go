package opspec

import "github.com/nnsoc/nnsoc/nn"

// Host is an operation of nn.HostExtension: operands, each of which may be omitted, and attributes.
type Host struct {
	Inputs, Outputs []uint32
	Attributes      uint32 // a TENSOR_INT32
}

// HostRow is the row of a host operation with steps of arithmetic for each element of its results. It stands in no Table
// of this package: no driver has it, and only the execution gives its shapes.
func HostRow(op nn.OperationType, steps int64) Row {
	return Row{
		Op: op, Since: Extension, Extension: nn.HostExtension, Open: true,
		Types: "F32@extension F16@extension I32@extension B8@extension Q8@extension Q8S@extension",
		Args:  Arguments[Host]{Read: readHost},
		Work:  WorkRule{Float: steps, Quant: steps},
		Forms: []Form{{Extension, "operands:ANY...? attributes:I32", "results:ANY..."}},
	}
}

func readHost(a *Args) (Host, error) {
	return Host{a.Variadic(), a.Op.Outputs, a.In("attributes")}, nil
}
