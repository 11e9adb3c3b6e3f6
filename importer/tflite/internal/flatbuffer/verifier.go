package flatbuffer

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
)

// maxTables bounds the work of verifying: offsets may point many times at the
// same table, so the file's size alone does not.
const maxTables = 1 << 20

// verifier checks tables before they are read.
type verifier struct {
	buf    []byte
	tables int
}

// OpenModel checks the frame and every table reachable from the root. Tables
// of a union are checked where they are read: their kind follows from their
// context.
func OpenModel(buf []byte) (Table, error) {
	if len(buf) < 8 {
		return Table{}, fmt.Errorf("file of %d bytes is too short for a model", len(buf))
	}
	if len(buf) > 1<<31-1 {
		return Table{}, fmt.Errorf("file of %d bytes exceeds the 2 GiB of the format", len(buf))
	}
	if id := string(buf[4:8]); id != "TFL3" {
		return Table{}, fmt.Errorf("not a TensorFlow Lite model: identifier %q at offset 4, want \"TFL3\"", id)
	}
	v := &verifier{buf: buf}
	root, err := v.offset(0, "root")
	if err != nil {
		return Table{}, err
	}
	return v.open(root, schema.Types()["Model"])
}

// open checks the table at pos and everything that it refers to.
func (v *verifier) open(pos int, t *schema.Table) (Table, error) {
	if err := v.table(pos, t); err != nil {
		return Table{}, err
	}
	return newTable(v, pos, t), nil
}

// offset follows the unsigned offset stored at pos.
func (v *verifier) offset(pos int, what string) (int, error) {
	if pos < 0 || pos+4 > len(v.buf) {
		return 0, fmt.Errorf("offset %#x: %s lies outside the file", pos, what)
	}
	target := pos + int(binary.LittleEndian.Uint32(v.buf[pos:]))
	if target == pos || target+4 > len(v.buf) {
		return 0, fmt.Errorf("offset %#x: %s points outside the file", pos, what)
	}
	return target, nil
}

// vector checks a vector or string that begins at pos.
func (v *verifier) vector(pos, elemBytes int, what string) (n int, err error) {
	n = int(binary.LittleEndian.Uint32(v.buf[pos:]))
	if n > (len(v.buf)-pos-4)/elemBytes {
		return 0, fmt.Errorf("offset %#x: %s of %d elements reaches beyond the file", pos, what, n)
	}
	return n, nil
}

// fields checks the vtable of the table at pos and returns the position of
// each field, 0 for an absent one.
func (v *verifier) fields(pos int, t *schema.Table) ([]int, error) {
	if v.tables++; v.tables > maxTables {
		return nil, fmt.Errorf("more than %d tables", maxTables)
	}
	vt := pos - int(int32(binary.LittleEndian.Uint32(v.buf[pos:])))
	if vt < 0 || vt+4 > len(v.buf) {
		return nil, fmt.Errorf("offset %#x: vtable of %s lies outside the file", pos, t.Name)
	}
	vtBytes := int(binary.LittleEndian.Uint16(v.buf[vt:]))
	tabBytes := int(binary.LittleEndian.Uint16(v.buf[vt+2:]))
	if vtBytes < 4 || vtBytes%2 != 0 || vt+vtBytes > len(v.buf) || tabBytes < 4 || pos+tabBytes > len(v.buf) {
		return nil, fmt.Errorf("offset %#x: vtable of %s is damaged", vt, t.Name)
	}
	at := make([]int, len(t.Fields))
	for id, f := range t.Fields {
		if 4+2*id+2 > vtBytes {
			break
		}
		o := int(binary.LittleEndian.Uint16(v.buf[vt+4+2*id:]))
		if o == 0 {
			continue
		}
		size := 4
		if f.Kind == schema.Scalar {
			size = f.Bytes
		}
		if o < 4 || o+size > tabBytes {
			return nil, fmt.Errorf("offset %#x: %s of %s lies outside its table", pos, f.Name, t.Name)
		}
		at[id] = pos + o
	}
	return at, nil
}

// table checks the table at pos and everything that it refers to.
func (v *verifier) table(pos int, t *schema.Table) error {
	at, err := v.fields(pos, t)
	if err != nil {
		return err
	}
	for id, f := range t.Fields {
		if at[id] == 0 || f.Kind == schema.Scalar || f.Kind == schema.Union || f.Kind == schema.Unread {
			continue
		}
		what := f.Name + " of " + t.Name
		target, err := v.offset(at[id], what)
		if err != nil {
			return err
		}
		switch f.Kind {
		case schema.Text, schema.Vector:
			_, err = v.vector(target, f.Bytes, what)
		case schema.SubTable:
			err = v.table(target, f.Of)
		case schema.Tables:
			err = v.tablesAt(target, f.Of, what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) tablesAt(pos int, of *schema.Table, what string) error {
	n, err := v.vector(pos, 4, what)
	if err != nil {
		return err
	}
	for i := range n {
		target, err := v.offset(pos+4+4*i, of.Name)
		if err != nil {
			return err
		}
		if err := v.table(target, of); err != nil {
			return fmt.Errorf("%s %d: %w", of.Name, i, err)
		}
	}
	return nil
}
