package vela

import (
	"encoding/binary"
	"fmt"
)

// reader reads a flatbuffers file. Every access is checked against the file's bounds; the first failure is kept in err,
// and later reads return zero or empty.
type reader struct {
	data []byte
	err  error
	// left bounds the bytes that are copied out of the file: offsets may point
	// many times at the same vector, so the file's size alone does not.
	left int
}

func newReader(data []byte) *reader { return &reader{data: data, left: 1<<20 + 8*len(data)} }

// charge subtracts copied bytes from the budget.
func (r *reader) charge(n int) bool {
	if r.left -= n; r.left < 0 {
		r.fail("vectors of the file overlap too often")
	}
	return r.err == nil
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) u32(pos int) uint32 {
	if pos < 0 || pos > len(r.data)-4 {
		r.fail("offset %#x lies outside the file of %#x bytes", pos, len(r.data))
		return 0
	}
	return binary.LittleEndian.Uint32(r.data[pos:])
}

func (r *reader) u16(pos int) int {
	if pos < 0 || pos > len(r.data)-2 {
		r.fail("offset %#x lies outside the file of %#x bytes", pos, len(r.data))
		return 0
	}
	return int(binary.LittleEndian.Uint16(r.data[pos:]))
}

// target is the target of the unsigned offset at pos.
func (r *reader) target(pos int) int {
	t := pos + int(r.u32(pos))
	if r.err == nil && (t == pos || t > len(r.data)-4) {
		r.fail("offset %#x points to %#x, outside the file of %#x bytes", pos, t, len(r.data))
		return 0
	}
	return t
}

// table is the position of a flatbuffers table; 0 is an absent one.
type table int

// field is the position of a field of so many bytes, 0 where it is absent.
func (r *reader) field(t table, id, size int) int {
	if t == 0 || r.err != nil {
		return 0
	}
	pos := int(t)
	vt := pos - int(int32(r.u32(pos)))
	length := r.u16(vt)
	if r.err != nil || 4+2*id+2 > length {
		return 0
	}
	o := r.u16(vt + 4 + 2*id)
	if o == 0 {
		return 0
	}
	if pos+o > len(r.data)-size {
		r.fail("field %d of the table at %#x lies outside the file", id, pos)
		return 0
	}
	return pos + o
}

func (r *reader) int8(t table, id int) int8 {
	if p := r.field(t, id, 1); p != 0 {
		return int8(r.data[p])
	}
	return 0
}

func (r *reader) int32(t table, id int) int32 {
	if p := r.field(t, id, 4); p != 0 {
		return int32(r.u32(p))
	}
	return 0
}

func (r *reader) table(t table, id int) table {
	if p := r.field(t, id, 4); p != 0 {
		return table(r.target(p))
	}
	return 0
}

// vector is the position of the first element and the number of elements.
func (r *reader) vector(t table, id, elementBytes int) (pos, n int) {
	p := r.field(t, id, 4)
	if p == 0 {
		return 0, 0
	}
	pos = r.target(p)
	n = int(r.u32(pos))
	pos += 4
	if r.err == nil && n > (len(r.data)-pos)/elementBytes {
		r.fail("vector of %d elements at %#x reaches beyond the file", n, pos)
	}
	if r.err != nil {
		return 0, 0
	}
	return pos, n
}

func (r *reader) bytes(t table, id int) []byte {
	pos, n := r.vector(t, id, 1)
	return r.data[pos : pos+n : pos+n]
}

func (r *reader) text(t table, id int) string {
	b := r.bytes(t, id)
	if !r.charge(len(b)) {
		return ""
	}
	return string(b)
}

func (r *reader) int32s(t table, id int) []int32 {
	return vectorOf(r, t, id, func(pos int) int32 { return int32(r.u32(pos)) })
}

// tables are the elements of a vector of tables.
func (r *reader) tables(t table, id int) []table {
	return vectorOf(r, t, id, func(pos int) table { return table(r.target(pos)) })
}

// vectorOf reads a vector of elements of four bytes.
func vectorOf[T any](r *reader, t table, id int, at func(pos int) T) []T {
	pos, n := r.vector(t, id, 4)
	if !r.charge(4 * n) {
		return nil
	}
	v := make([]T, n)
	for i := range v {
		v[i] = at(pos + 4*i)
	}
	return v
}
