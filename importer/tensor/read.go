package tensor

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/nn"
)

// Normalization maps a pixel 0..255 to a float input: (pixel - Mean) / Std.
type Normalization struct{ Mean, Std float64 }

// DefaultNormalization maps pixels to [-1, 1], as image networks of the
// MobileNet family expect.
var DefaultNormalization = Normalization{Mean: 127.5, Std: 127.5}

// maxFile bounds the size of a file.
const maxFile = 256 << 20

// ReadAll reads a file for each operand, or one .npz file for all: arrays with the operands'
// names, arr_0, arr_1 and so on, or as many arrays as there are operands.
func ReadAll(paths []string, operands []*nn.Operand, n Normalization) ([][]byte, error) {
	if len(paths) == 1 {
		data, err := readFile(paths[0])
		if err != nil {
			return nil, fmt.Errorf("input 0: %w", err)
		}
		if npy.IsArchive(data) {
			list, err := fromArchive(data, operands)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(paths[0]), err)
			}
			return list, nil
		}
	}
	if len(paths) != len(operands) {
		return nil, fmt.Errorf("%d inputs, --input gives %d", len(operands), len(paths))
	}
	var list [][]byte
	for k, o := range operands {
		b, err := Read(paths[k], o, n)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", k, err)
		}
		list = append(list, b)
	}
	return list, nil
}

func fromArchive(data []byte, operands []*nn.Operand) ([][]byte, error) {
	arrays, err := npy.ParseArchive(data)
	if err != nil {
		return nil, err
	}
	var list [][]byte
	for k, o := range operands {
		at := slices.IndexFunc(arrays, func(a npy.Named) bool { return a.Name == o.Name })
		if at < 0 {
			at = slices.IndexFunc(arrays, func(a npy.Named) bool { return a.Name == fmt.Sprintf("arr_%d", k) })
		}
		if at < 0 && len(arrays) == len(operands) {
			at = k
		}
		if at < 0 {
			var names []string
			for _, a := range arrays {
				names = append(names, fmt.Sprintf("%q", a.Name))
			}
			return nil, fmt.Errorf("no array for input %d, %q; there are %s", k, o.Name, strings.Join(names, ", "))
		}
		b, err := decodeArray(arrays[at].Array, o)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", arrays[at].Name, err)
		}
		list = append(list, b)
	}
	return list, nil
}

// Read reads a file into a buffer for operand o. The file's magic bytes decide its format; without one it must be
// exactly as long as the operand.
func Read(path string, o *nn.Operand, n Normalization) ([]byte, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	b, err := decode(data, o, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return b, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s: larger than %d MiB", path, maxFile>>20)
	}
	return data, err
}

func decode(data []byte, o *nn.Operand, n Normalization) ([]byte, error) {
	switch {
	case npy.Is(data):
		return decodeNpy(data, o)
	case isImage(data):
		return decodeImage(data, o, n)
	}
	if w := integersOf(data, o); w != nil {
		return w.int32s(data)
	}
	if int64(len(data)) != o.Bytes() {
		return nil, fmt.Errorf("%d bytes; not a picture or .npy, and a raw tensor %v%v has %d", len(data), o.Type, o.Unmerge(o.Dimensions), o.Bytes())
	}
	return data, nil
}

// Synthetic fills a buffer for operand o with reproducible noise: the top
// bytes of xorshift32 for integers, [-1, 1) for floats.
func Synthetic(o *nn.Operand, seed uint32) []byte {
	buf := make([]byte, o.Bytes())
	x := seed | 1
	next := func() uint32 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		return x
	}
	size := o.Type.ElementBytes()
	for i := 0; i+size <= len(buf); i += size {
		v := next()
		switch o.Type {
		case nn.TensorFloat32, nn.TensorFloat16:
			putFloat(buf[i:], o.Type, float64(v>>8)/(1<<23)-1)
		case nn.TensorBool8:
			buf[i] = byte(v >> 31)
		case nn.TensorInt32:
			if o.Scale != 0 { // a 16-bit value
				v = uint32(int32(v) >> 16)
			}
			binary.LittleEndian.PutUint32(buf[i:], v)
		default:
			for k := range size {
				buf[i+k] = byte(v >> (32 - 8*(size-k)))
			}
		}
	}
	return buf
}
