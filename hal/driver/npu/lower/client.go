package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/nn"
)

// ioBuffer reserves a part of the input and output region.
func (l *Lowering) ioBuffer(n int) layout.Buffer {
	b := layout.Buffer{Region: layout.RegionIO, Addr: l.list.IO, Bytes: n}
	l.list.IO += layout.Align(n)
	return b
}

// inputs copies the model's inputs on chip.
func (l *Lowering) inputs() error {
	l.op = -1
	for _, x := range l.graph.Inputs {
		if o := &l.graph.Operands[x]; o.IsConst() || o.Lifetime == nn.NoValue {
			l.list.Inputs = append(l.list.Inputs, layout.Buffer{}) // a parameter, or left out
			continue
		}
		o, err := l.tensor(x)
		if err != nil {
			return fmt.Errorf("input: %w", err)
		}
		n := int(o.Bytes())
		b := l.ioBuffer(n)
		l.list.Inputs = append(l.list.Inputs, b)
		l.value[x] = l.Temporary(n)
		l.copy(client(b), layout.Ref{Value: l.value[x], FeatureMap: layout.Dense(0, 1, 1, n, 1, false)})
	}
	return nil
}

// outputs copies the model's outputs to memory.
func (l *Lowering) outputs() error {
	l.op = -1
	for _, x := range l.graph.Outputs {
		o, err := l.tensor(x)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if l.value[x] < 0 {
			return computed.Broken("output operand %d", x)
		}
		n := int(o.Bytes())
		b := l.ioBuffer(n)
		l.list.Outputs = append(l.list.Outputs, b)
		l.copy(layout.Ref{Value: l.value[x], FeatureMap: layout.Dense(0, 1, 1, n, 1, false)}, client(b))
	}
	return nil
}

// client is the map of a buffer of the input and output region.
func client(b layout.Buffer) layout.Ref {
	r := layout.Ref{Value: layout.Placed, FeatureMap: layout.Dense(b.Addr, 1, 1, b.Bytes, 1, false)}
	r.Region = layout.RegionIO
	return r
}
