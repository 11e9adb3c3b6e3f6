// Package flatbuffer reads TensorFlow Lite's files by the names of package schema: a file is checked as it is
// opened, every access after that is within its bounds.
package flatbuffer

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
)

// Table reads a verified table by names of fields. The zero table has no
// fields: every scalar has its initial value.
type Table struct {
	raw flatbuffers.Table
	v   *verifier
	T   *schema.Table
}

func newTable(v *verifier, pos int, t *schema.Table) Table {
	return Table{flatbuffers.Table{Bytes: v.buf, Pos: flatbuffers.UOffsetT(pos)}, v, t}
}

// at is the position of a field, 0 when it is absent.
func (t Table) at(name string) (flatbuffers.UOffsetT, *schema.Field) {
	id := t.T.ID(name)
	f := &t.T.Fields[id]
	if t.v == nil {
		return 0, f
	}
	if o := t.raw.Offset(flatbuffers.VOffsetT(4 + 2*id)); o != 0 {
		return t.raw.Pos + flatbuffers.UOffsetT(o), f
	}
	return 0, f
}

// Int reads an integer or boolean field.
func (t Table) Int(name string) int64 {
	pos, f := t.at(name)
	switch {
	case pos == 0:
		return int64(f.Initial)
	case f.Bytes == 1:
		return int64(t.raw.GetInt8(pos))
	case f.Bytes == 4:
		return int64(t.raw.GetInt32(pos))
	}
	return t.raw.GetInt64(pos)
}

func (t Table) Bool(name string) bool { return t.Int(name) != 0 }

// Float reads a field of 32 bits.
func (t Table) Float(name string) float32 {
	pos, f := t.at(name)
	if pos == 0 {
		return float32(f.Initial)
	}
	return t.raw.GetFloat32(pos)
}

// Bytes is a vector of bytes or a text, aliasing the file.
func (t Table) Bytes(name string) []byte {
	if pos, _ := t.at(name); pos != 0 {
		return t.raw.ByteVector(pos)
	}
	return nil
}

func (t Table) Text(name string) string { return string(t.Bytes(name)) }

// Has reports whether a field is present.
func (t Table) Has(name string) bool {
	pos, _ := t.at(name)
	return pos != 0
}

// Beyond is the first field of the table that its schema lacks and that the file has.
func (t Table) Beyond() (id int, ok bool) {
	if t.v == nil {
		return 0, false
	}
	for id = len(t.T.Fields); 4+2*id <= math.MaxUint16; id++ {
		slot := flatbuffers.VOffsetT(4 + 2*id)
		vt := t.raw.Pos - flatbuffers.UOffsetT(t.raw.GetSOffsetT(t.raw.Pos))
		if slot >= t.raw.GetVOffsetT(vt) {
			break
		}
		if t.raw.Offset(slot) != 0 {
			return id, true
		}
	}
	return 0, false
}

// Vector is a vector of numbers in the file; the zero value is an empty one.
type Vector struct {
	N, bytes int
	pos      flatbuffers.UOffsetT
	t        flatbuffers.Table
}

// Vector is a field that holds numbers.
func (t Table) Vector(name string) Vector {
	pos, f := t.at(name)
	if pos == 0 {
		return Vector{}
	}
	rel := pos - t.raw.Pos
	return Vector{t.raw.VectorLen(rel), f.Bytes, t.raw.Vector(rel), t.raw}
}

// Int is element i of a vector of integers; 16-bit and 8-bit ones are unsigned.
func (v Vector) Int(i int) int64 {
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

// Float is element i of a vector of floats.
func (v Vector) Float(i int) float32 {
	return math.Float32frombits(uint32(v.Int(i)))
}

// Ints copies a vector of integers.
func (v Vector) Ints() []int64 {
	list := make([]int64, v.N)
	for i := range list {
		list[i] = v.Int(i)
	}
	return list
}

// Table follows a field that holds a table; ok is false when it is absent.
func (t Table) Table(name string) (Table, bool) {
	pos, f := t.at(name)
	if pos == 0 {
		return Table{T: f.Of}, false
	}
	return newTable(t.v, int(t.raw.Indirect(pos)), f.Of), true
}

// Tables is the number of tables in a vector of them.
func (t Table) Tables(name string) int {
	pos, _ := t.at(name)
	if pos == 0 {
		return 0
	}
	return t.raw.VectorLen(pos - t.raw.Pos)
}

// TableAt is element i of a vector of tables.
func (t Table) TableAt(name string, i int) Table {
	pos, f := t.at(name)
	at := t.raw.Vector(pos-t.raw.Pos) + flatbuffers.UOffsetT(4*i)
	return newTable(t.v, int(t.raw.Indirect(at)), f.Of)
}

// Union follows and checks a field whose kind only the caller knows; ok is
// false when it is absent.
func (t Table) Union(name string, of *schema.Table) (u Table, ok bool, err error) {
	pos, _ := t.at(name)
	if pos == 0 {
		return Table{T: of}, false, nil
	}
	target, err := t.v.offset(int(pos), name)
	if err != nil {
		return Table{}, false, err
	}
	u, err = t.v.open(target, of)
	return u, err == nil, err
}
