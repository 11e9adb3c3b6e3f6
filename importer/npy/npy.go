// Package npy reads and writes arrays in NumPy's .npy format, versions 1 to 3,
// row-major and little-endian.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The format: magic, version, header length, a Python literal with descr,
// fortran_order and shape, padded so that data begins at a multiple of 64, then
// the elements.
const magic = "\x93NUMPY"

// Array is the content of a file.
type Array struct {
	Descr string // type of the elements, as "<f4"
	Shape []int
	Data  []byte // row-major
}

var (
	descrField   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'descr': *'([^']*)'`) })
	fortranField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'fortran_order': *(True|False)`) })
	shapeField   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`) })
	simpleDescr  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([<>|=])[biufc]([0-9]{1,2})$`) })
)

// Is reports whether data begins as a .npy file does.
func Is(data []byte) bool { return len(data) >= len(magic) && string(data[:len(magic)]) == magic }

// Parse reads a file. Data is a part of data.
func Parse(data []byte) (*Array, error) {
	if !Is(data) {
		return nil, errors.New("npy: the file does not begin with \\x93NUMPY")
	}
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
	descr, fortran, shape := descrField().FindStringSubmatch(header), fortranField().FindStringSubmatch(header), shapeField().FindStringSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return nil, errors.New("npy: header lacks descr, fortran_order or shape")
	}
	if fortran[1] == "True" {
		return nil, errors.New("npy: column-major arrays are not supported")
	}
	a := &Array{Descr: descr[1], Shape: []int{}, Data: body}
	size, err := a.ElementBytes()
	if err != nil {
		return nil, err
	}
	total := int64(size)
	for _, s := range strings.FieldsFunc(shape[1], func(r rune) bool { return r == ',' || r == ' ' }) {
		d, err := strconv.ParseUint(s, 10, 32)
		if err != nil || d > 0 && total > math.MaxInt32*64/int64(d) {
			return nil, fmt.Errorf("npy: shape (%s)", shape[1])
		}
		total *= int64(d)
		a.Shape = append(a.Shape, int(d))
	}
	if int64(len(body)) != total {
		return nil, fmt.Errorf("npy: %d bytes of elements, shape %v of %s needs %d", len(body), a.Shape, a.Descr, total)
	}
	return a, nil
}

// ElementBytes is the size of an element.
func (a *Array) ElementBytes() (int, error) {
	m := simpleDescr().FindStringSubmatch(a.Descr)
	if m == nil {
		return 0, fmt.Errorf("npy: elements of type %q are not supported", a.Descr)
	}
	n, _ := strconv.Atoi(m[2])
	switch {
	case n < 1 || n > 16 || n&(n-1) != 0:
		return 0, fmt.Errorf("npy: elements of type %q are not supported", a.Descr)
	case m[1] == ">" && n > 1:
		return 0, fmt.Errorf("npy: big-endian elements (%s) are not supported", a.Descr)
	}
	return n, nil
}

// Write writes the array as a file of version 1.
func (a *Array) Write(w io.Writer) error {
	var shape strings.Builder
	for _, d := range a.Shape {
		fmt.Fprintf(&shape, "%d, ", d)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a.Descr, strings.TrimSuffix(shape.String(), " "))
	const frame = len(magic) + 4
	header += strings.Repeat(" ", 63-(frame+len(header))%64) + "\n"
	if len(header) > math.MaxUint16 {
		return fmt.Errorf("npy: a shape of %d dimensions", len(a.Shape))
	}
	out := append([]byte(magic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	if _, err := w.Write(append(out, header...)); err != nil {
		return err
	}
	_, err := w.Write(a.Data)
	return err
}
