package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// align is the alignment of constants in the data file.
const align = 128

// Writer collects the content of both files.
type Writer struct {
	model, data []byte
	seen        map[span]uint64 // constants that were written already
}

// span identifies a slice of bytes by its place in memory.
type span struct {
	at *byte
	n  int
}

// Parts are the contents of both files so far.
func (w *Writer) Parts() (model, data []byte) { return w.model, w.data }

// Uint appends an unsigned number.
func (w *Writer) Uint(v uint64) { w.model = binary.AppendUvarint(w.model, v) }

// Int appends a number.
func (w *Writer) Int(v int64) { w.model = binary.AppendVarint(w.model, v) }

// Bool appends a truth value.
func (w *Writer) Bool(v bool) {
	if v {
		w.Uint(1)
	} else {
		w.Uint(0)
	}
}

// Float appends the bits of a number.
func (w *Writer) Float(v float32) {
	w.model = binary.LittleEndian.AppendUint32(w.model, math.Float32bits(v))
}

// Bytes appends code or other bytes whose change must be found.
func (w *Writer) Bytes(b []byte) {
	w.Uint(uint64(len(b)))
	w.model = append(w.model, b...)
}

// String appends a text.
func (w *Writer) String(s string) {
	w.Uint(uint64(len(s)))
	w.model = append(w.model, s...)
}

// Uint32s appends a list and distinguishes nil from an empty list.
func (w *Writer) Uint32s(list []uint32) {
	if list == nil {
		w.Uint(0)
		return
	}
	w.Uint(uint64(len(list)) + 1)
	for _, v := range list {
		w.Uint(uint64(v))
	}
}

// Constants puts bytes into the data file, once however often they are written.
func (w *Writer) Constants(b []byte) {
	w.Uint(uint64(len(b)))
	if len(b) == 0 {
		return
	}
	key := span{unsafe.SliceData(b), len(b)}
	at, ok := w.seen[key]
	if !ok {
		if w.seen == nil {
			w.seen = map[span]uint64{}
		}
		w.data = append(w.data, make([]byte, -len(w.data)&(align-1))...)
		at = uint64(len(w.data))
		w.data = append(w.data, b...)
		w.seen[key] = at
	}
	w.Uint(at)
}

// Reader reads what a Writer has written. After an error all results are zero, and Err returns it.
type Reader struct {
	model, data []byte
	zeros       []byte // what constants that were left out share
	err         error
}

// NewReader returns a Reader of the parts that Writer.Parts returned; they are not trusted.
func NewReader(model, data []byte) *Reader { return &Reader{model: model, data: data} }

// ErrCorrupt is inside the error of content that no Writer makes.
var ErrCorrupt = errors.New("cache: content is corrupt")

// Err is the first error.
func (r *Reader) Err() error { return r.err }

// Fail makes the content an error.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %w", ErrCorrupt, fmt.Errorf(format, args...))
	}
	r.model = nil
}

// Uint reads an unsigned number.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.model)
	if n <= 0 {
		r.Fail("it ends in a number")
		return 0
	}
	r.model = r.model[n:]
	return v
}

// Int reads a number.
func (r *Reader) Int() int64 {
	v, n := binary.Varint(r.model)
	if n <= 0 {
		r.Fail("it ends in a number")
		return 0
	}
	r.model = r.model[n:]
	return v
}

// IntIn reads a number between two bounds, both included.
func (r *Reader) IntIn(lo, hi int64) int {
	v := r.Int()
	if v < lo || v > hi {
		r.Fail("%d is outside %d to %d", v, lo, hi)
		return 0
	}
	return int(v)
}

// Bool reads a truth value.
func (r *Reader) Bool() bool {
	v := r.Uint()
	if v > 1 {
		r.Fail("%d is no truth value", v)
	}
	return v == 1
}

// Float reads a number.
func (r *Reader) Float() float32 {
	if len(r.model) < 4 {
		r.Fail("it ends in a number")
		return 0
	}
	v := math.Float32frombits(binary.LittleEndian.Uint32(r.model))
	r.model = r.model[4:]
	return v
}

// Count reads the length of a list whose elements have at least one byte each.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.model)) {
		r.Fail("a list of %d elements in %d bytes", n, len(r.model))
		return 0
	}
	return int(n)
}

// Bytes reads bytes; they alias the reader's.
func (r *Reader) Bytes() []byte {
	n := r.Count()
	b := r.model[:n:n]
	r.model = r.model[n:]
	return b
}

// String reads a text.
func (r *Reader) String() string { return string(r.Bytes()) }

// Uint32s reads a list.
func (r *Reader) Uint32s() []uint32 {
	n := r.Uint()
	if n == 0 {
		return nil
	}
	if n-1 > uint64(len(r.model)) {
		r.Fail("a list of %d elements in %d bytes", n-1, len(r.model))
		return nil
	}
	list := make([]uint32, n-1)
	for i := range list {
		v := r.Uint()
		if v > math.MaxUint32 {
			r.Fail("%d does not fit 32 bits", v)
		}
		list[i] = uint32(v)
	}
	return list
}

// Constants reads bytes of the data file; they alias the reader's.
func (r *Reader) Constants() []byte {
	n := r.Uint()
	if n == 0 {
		return nil
	}
	at := r.Uint()
	if at > uint64(len(r.data)) || n > uint64(len(r.data))-at {
		r.Fail("constants at %d of %d bytes in a data file of %d", at, n, len(r.data))
		return nil
	}
	return r.data[at : at+n : at+n]
}

// IntUpTo reads an unsigned number of at most hi.
func (r *Reader) IntUpTo(hi int64) int {
	v := r.Uint()
	if v > uint64(hi) {
		r.Fail("%d is more than %d", v, hi)
		return 0
	}
	return int(v)
}

// End checks that everything was read.
func (r *Reader) End() error {
	if r.err == nil && len(r.model) > 0 {
		r.Fail("%d bytes behind its end", len(r.model))
	}
	return r.err
}
