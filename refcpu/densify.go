package refcpu

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareDensify is DENSIFY.
func prepareDensify(v opspec.View, op *nn.Operation) (kern, error) {
	d, err := v.Densify(op)
	if err != nil {
		return nil, err
	}
	size := d.Type.ElementBytes()
	fill := make([]byte, size)
	switch o := &v.Operands[d.Values]; d.Type {
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		fill[0] = byte(o.ZeroPoint)
	case nn.TensorQuant16Asymm:
		binary.LittleEndian.PutUint16(fill, uint16(o.ZeroPoint))
	}
	return func(x *run) error {
		values, out := x.bytes(d.Values), x.bytes(d.Output)
		for i := 0; i < len(out); i += size {
			copy(out[i:], fill)
		}
		return d.Walk(x.int32s, len(values)/size, func(value, at int) {
			copy(out[at*size:(at+1)*size], values[value*size:])
		})
	}, nil
}
