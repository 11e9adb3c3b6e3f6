package refcpu

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/nn"
)

func int32Bytes(v ...int32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func (g *graph) int32s(v ...int32) uint32 {
	return g.constant(nn.TensorInt32, 0, 0, int32Bytes(v...), uint32(len(v)))
}

func (g *graph) bool(v bool) uint32 {
	b := byte(0)
	if v {
		b = 1
	}
	return g.add(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{b}})
}

// runOnce compiles and runs a graph of one output.
func runOnce(g *graph, threads int, inputs ...[]byte) ([]byte, error) {
	p, err := Compile(g.model())
	if err != nil {
		return nil, err
	}
	in := make([]Tensor, len(inputs))
	for i := range in {
		in[i].Data = inputs[i]
	}
	out, err := p.Execute(in, Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	return out[0].Data, nil
}
