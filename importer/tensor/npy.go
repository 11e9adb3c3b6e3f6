package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// The .npy format of NumPy: magic, version, header length, a Python literal
// with descr, fortran_order and shape, padded so that data begins at a
// multiple of 64, then the elements.
const npyMagic = "\x93NUMPY"

// npyTypes are the dtype strings of operand types; per-channel weights and
// signed activations share int8.
var npyTypes = map[nn.OperandType]string{
	nn.TensorFloat32: "<f4", nn.TensorFloat16: "<f2", nn.TensorInt32: "<i4", nn.TensorBool8: "|b1",
	nn.TensorQuant8Asymm: "|u1", nn.TensorQuant8AsymmSigned: "|i1", nn.TensorQuant8Symm: "|i1",
	nn.TensorQuant8SymmPerChannel: "|i1", nn.TensorQuant16Symm: "<i2", nn.TensorQuant16Asymm: "<u2",
}

// WriteNpy writes a dense tensor of type t.
func WriteNpy(w io.Writer, t nn.OperandType, dims []uint32, data []byte) error {
	descr, ok := npyTypes[t]
	if !ok {
		return fmt.Errorf("%v has no .npy type", t)
	}
	var shape strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&shape, "%d, ", d)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, strings.TrimSuffix(shape.String(), " "))
	const frame = len(npyMagic) + 4
	header += strings.Repeat(" ", 63-(frame+len(header))%64) + "\n"
	out := append([]byte(npyMagic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	out = append(out, header...)
	if _, err := w.Write(out); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

var (
	npyDescr   = regexp.MustCompile(`'descr': *'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order': *(True|False)`)
	npyShape   = regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`)
)

func decodeNpy(data []byte, o *nn.Operand) ([]byte, error) {
	if len(data) < 12 {
		return nil, errors.New("npy: truncated header")
	}
	var n, at int
	switch data[6] {
	case 1:
		n, at = int(binary.LittleEndian.Uint16(data[8:])), 10
	case 2, 3:
		n, at = int(binary.LittleEndian.Uint32(data[8:])), 12
	default:
		return nil, fmt.Errorf("npy: version %d", data[6])
	}
	if n > len(data)-at {
		return nil, errors.New("npy: truncated header")
	}
	header, body := string(data[at:at+n]), data[at+n:]
	descr, fortran, shape := npyDescr.FindStringSubmatch(header), npyFortran.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return nil, errors.New("npy: header lacks descr, fortran_order or shape")
	}
	if want := npyTypes[o.Type]; descr[1] != want && !(len(want) == 3 && want[0] == '|' && descr[1] == "<"+want[1:]) {
		return nil, fmt.Errorf("npy: elements are %q, input %v wants %q", descr[1], o.Type, want)
	}
	if fortran[1] == "True" {
		return nil, errors.New("npy: column-major arrays are not supported")
	}
	var dims []uint32
	for _, s := range strings.FieldsFunc(shape[1], func(r rune) bool { return r == ',' || r == ' ' }) {
		d, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("npy: shape (%s)", shape[1])
		}
		dims = append(dims, uint32(d))
	}
	if !equalShape(dims, o.Dimensions) {
		return nil, fmt.Errorf("npy: shape %v, input wants %v", dims, o.Dimensions)
	}
	if int64(len(body)) != o.Bytes() {
		return nil, fmt.Errorf("npy: %d bytes of elements, shape %v needs %d", len(body), dims, o.Bytes())
	}
	return body, nil
}

// equalShape compares shapes; a leading batch of 1 may be left out.
func equalShape(a, b []uint32) bool {
	if len(a) == len(b)-1 && b[0] == 1 {
		b = b[1:]
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
