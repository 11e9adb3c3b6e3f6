package tensor

import (
	"fmt"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/nn"
)

// npyTypes are the dtype strings of operand types; per-channel weights and
// signed activations share int8.
var npyTypes = map[nn.OperandType]string{
	nn.TensorFloat32: "<f4", nn.TensorFloat16: "<f2", nn.TensorInt32: "<i4", nn.TensorBool8: "|b1",
	nn.TensorQuant8Asymm: "|u1", nn.TensorQuant8AsymmSigned: "|i1", nn.TensorQuant8Symm: "|i1",
	nn.TensorQuant8SymmPerChannel: "|i1", nn.TensorQuant16Symm: "<i2", nn.TensorQuant16Asymm: "<u2",
}

// Array is a dense tensor of type t as NumPy has it.
func Array(t nn.OperandType, dims []uint32, data []byte) (*npy.Array, error) {
	descr, ok := npyTypes[t]
	if !ok {
		return nil, fmt.Errorf("%v has no .npy type", t)
	}
	a := &npy.Array{Descr: descr, Data: data}
	for _, d := range dims {
		a.Shape = append(a.Shape, int(d))
	}
	return a, nil
}

// WriteNpy writes a dense tensor of type t.
func WriteNpy(w io.Writer, t nn.OperandType, dims []uint32, data []byte) error {
	a, err := Array(t, dims, data)
	if err != nil {
		return err
	}
	return a.Write(w)
}

func decodeNpy(data []byte, o *nn.Operand) ([]byte, error) {
	a, err := npy.Parse(data)
	if err != nil {
		return nil, err
	}
	return decodeArray(a, o)
}

func decodeArray(a *npy.Array, o *nn.Operand) ([]byte, error) {
	var wide *integers
	for i := range integerWidths {
		if w := &integerWidths[i]; w.descr == a.Descr && o.Type == nn.TensorInt32 {
			wide = w
		}
	}
	if want := npyTypes[o.Type]; wide == nil && a.Descr != want && !(len(want) == 3 && want[0] == '|' && a.Descr == "<"+want[1:]) {
		return nil, fmt.Errorf("npy: elements are %q, input %v wants %q", a.Descr, o.Type, want)
	}
	var dims []uint32
	for _, d := range a.Shape {
		dims = append(dims, uint32(d))
	}
	if want := o.Unmerge(o.Dimensions); !equalShape(dims, want) && !equalShape(dims, o.Dimensions) {
		return nil, fmt.Errorf("npy: shape %v, input wants %v", dims, want)
	}
	if wide != nil && int64(len(a.Data)) == o.Elements()*int64(wide.bytes) {
		return wide.int32s(a.Data)
	}
	if int64(len(a.Data)) != o.Bytes() {
		return nil, fmt.Errorf("npy: %d bytes of elements, shape %v needs %d", len(a.Data), dims, o.Bytes())
	}
	return a.Data, nil
}

// equalShape compares shapes; a leading batch of 1 may be left out.
func equalShape(a, b []uint32) bool {
	if len(a) == len(b)-1 && b[0] == 1 {
		b = b[1:]
	}
	return slices.Equal(a, b)
}
