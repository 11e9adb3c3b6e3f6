package tensor

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
)

// integers is a width of integers held in TENSOR_INT32: importers of model files use it for 64-bit tensors, and for
// 16-bit ones with a scale.
type integers struct {
	descr string // of .npy
	bytes int
	at    func(b []byte) int64
}

var integerWidths = []integers{
	{"<i2", 2, func(b []byte) int64 { return int64(int16(binary.LittleEndian.Uint16(b))) }},
	{"<i8", 8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }},
}

// integersOf is the width of a raw tensor of other integers than the operand's,
// nil for any other tensor. Half of a tensor without a scale is no tensor.
func integersOf(data []byte, o *nn.Operand) *integers {
	n := o.Elements()
	if o.Type != nn.TensorInt32 || n <= 0 {
		return nil
	}
	for i := range integerWidths {
		if w := &integerWidths[i]; int64(len(data)) == n*int64(w.bytes) && (w.bytes > 4 || o.Scale != 0) {
			return w
		}
	}
	return nil
}

// int32s stores integers of another width in 32 bits. A value that does not fit
// is an error.
func (w *integers) int32s(data []byte) ([]byte, error) {
	out := make([]byte, 0, 4*(len(data)/w.bytes))
	for i := 0; i+w.bytes <= len(data); i += w.bytes {
		v := w.at(data[i:])
		if v != int64(int32(v)) {
			return nil, fmt.Errorf("element %d is %d, which does not fit the 32 bits of TENSOR_INT32", i/w.bytes, v)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return out, nil
}
