package tflite

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
)

// table reads a verified table by names of fields. The zero table has no
// fields: every scalar has its initial value.
type table struct {
	flatbuffers.Table
	v *verifier
	t *schema.Table
}

func newTable(v *verifier, pos int, t *schema.Table) table {
	return table{flatbuffers.Table{Bytes: v.buf, Pos: flatbuffers.UOffsetT(pos)}, v, t}
}

// at is the position of a field, 0 when it is absent.
func (t table) at(name string) (flatbuffers.UOffsetT, *schema.Field) {
	id := t.t.ID(name)
	f := &t.t.Fields[id]
	if t.v == nil {
		return 0, f
	}
	if o := t.Offset(flatbuffers.VOffsetT(4 + 2*id)); o != 0 {
		return t.Pos + flatbuffers.UOffsetT(o), f
	}
	return 0, f
}

// int reads an integer or boolean field.
func (t table) int(name string) int64 {
	pos, f := t.at(name)
	switch {
	case pos == 0:
		return int64(f.Initial)
	case f.Bytes == 1:
		return int64(t.GetInt8(pos))
	case f.Bytes == 4:
		return int64(t.GetInt32(pos))
	}
	return t.GetInt64(pos)
}

func (t table) bool(name string) bool { return t.int(name) != 0 }

func (t table) float(name string) float32 {
	pos, f := t.at(name)
	if pos == 0 {
		return float32(f.Initial)
	}
	return t.GetFloat32(pos)
}

// bytes is a vector of bytes or a text, aliasing the file.
func (t table) bytes(name string) []byte {
	if pos, _ := t.at(name); pos != 0 {
		return t.ByteVector(pos)
	}
	return nil
}

func (t table) text(name string) string { return string(t.bytes(name)) }

// has reports whether a field is present.
func (t table) has(name string) bool {
	pos, _ := t.at(name)
	return pos != 0
}

// vector is a vector of numbers in the file; the zero value is an empty one.
type vector struct {
	n, bytes int
	pos      flatbuffers.UOffsetT
	t        flatbuffers.Table
}

func (t table) vector(name string) vector {
	pos, f := t.at(name)
	if pos == 0 {
		return vector{}
	}
	rel := pos - t.Pos
	return vector{t.VectorLen(rel), f.Bytes, t.Vector(rel), t.Table}
}

// int is element i of a vector of integers; 16-bit and 8-bit ones are unsigned.
func (v vector) int(i int) int64 {
	pos := v.pos + flatbuffers.UOffsetT(i*v.bytes)
	switch v.bytes {
	case 1:
		return int64(v.t.GetUint8(pos))
	case 2:
		return int64(v.t.GetUint16(pos))
	case 4:
		return int64(v.t.GetInt32(pos))
	}
	return v.t.GetInt64(pos)
}

func (v vector) float(i int) float32 {
	return math.Float32frombits(uint32(v.int(i)))
}

// ints copies a vector of integers.
func (v vector) ints() []int64 {
	list := make([]int64, v.n)
	for i := range list {
		list[i] = v.int(i)
	}
	return list
}

// table follows a field that holds a table; ok is false when it is absent.
func (t table) table(name string) (table, bool) {
	pos, f := t.at(name)
	if pos == 0 {
		return table{t: f.Of}, false
	}
	return newTable(t.v, int(t.Indirect(pos)), f.Of), true
}

// tables is the number of tables in a vector of them.
func (t table) tables(name string) int {
	pos, _ := t.at(name)
	if pos == 0 {
		return 0
	}
	return t.VectorLen(pos - t.Pos)
}

// tableAt is element i of a vector of tables.
func (t table) tableAt(name string, i int) table {
	pos, f := t.at(name)
	at := t.Vector(pos-t.Pos) + flatbuffers.UOffsetT(4*i)
	return newTable(t.v, int(t.Indirect(at)), f.Of)
}

// union follows and checks a field whose kind only the caller knows; ok is
// false when it is absent.
func (t table) union(name string, of *schema.Table) (u table, ok bool, err error) {
	pos, _ := t.at(name)
	if pos == 0 {
		return table{t: of}, false, nil
	}
	target, err := t.v.offset(int(pos), name)
	if err != nil {
		return table{}, false, err
	}
	u, err = t.v.open(target, of)
	return u, err == nil, err
}
