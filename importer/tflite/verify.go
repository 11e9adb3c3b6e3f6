package tflite

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/importer/tflite/schema"
)

// field kinds of a flatbuffers table.
type fieldKind uint8

const (
	scalarField  fieldKind = iota
	stringField            // length-prefixed bytes
	vectorField            // vector of scalars, element size in bytes
	tableField             // one table
	tablesField            // vector of tables
	unknownField           // not read, not followed
)

// fieldShape describes what one field id of a table holds.
type fieldShape struct {
	kind  fieldKind
	bytes int         // scalar or element size
	of    *tableShape // tableField, tablesField
}

// tableShape is a table's fields by id. Fields beyond it are not read.
type tableShape struct {
	name   string
	fields []fieldShape
}

func scalar(bytes int) fieldShape      { return fieldShape{kind: scalarField, bytes: bytes} }
func vector(bytes int) fieldShape      { return fieldShape{kind: vectorField, bytes: bytes} }
func tables(of *tableShape) fieldShape { return fieldShape{kind: tablesField, of: of} }

var (
	text    = fieldShape{kind: stringField}
	ignored = fieldShape{kind: unknownField}
)

// The shapes mirror schema/tflite.fbs; TestShapesMatchSchema compares them.
var (
	quantizationShape = &tableShape{"QuantizationParameters", []fieldShape{
		vector(4), vector(4), vector(4), vector(8), scalar(1), ignored, scalar(4)}}
	tensorShape = &tableShape{"Tensor", []fieldShape{
		vector(4), scalar(1), scalar(4), text, {kind: tableField, of: quantizationShape}, scalar(1)}}
	operatorShape = &tableShape{"Operator", []fieldShape{
		scalar(4), vector(4), vector(4), scalar(1), ignored, vector(1)}}
	subgraphShape = &tableShape{"SubGraph", []fieldShape{
		tables(tensorShape), vector(4), vector(4), tables(operatorShape), text}}
	operatorCodeShape = &tableShape{"OperatorCode", []fieldShape{scalar(1), text, scalar(4), scalar(4)}}
	bufferShape       = &tableShape{"Buffer", []fieldShape{vector(1)}}
	metadataShape     = &tableShape{"Metadata", []fieldShape{text, scalar(4)}}
	modelShape        = &tableShape{"Model", []fieldShape{
		scalar(4), tables(operatorCodeShape), tables(subgraphShape), text, tables(bufferShape), vector(4), tables(metadataShape)}}
)

// maxTables bounds the work of verifying: offsets may point many times at the
// same table, so the file's size alone does not.
const maxTables = 1 << 20

type verifier struct {
	buf    []byte
	tables int
}

// verifyModel checks the frame and every table reachable from the root, the
// option tables of operators excepted: their shape follows from the operator.
func verifyModel(buf []byte) (*verifier, error) {
	if len(buf) < 8 {
		return nil, fmt.Errorf("file of %d bytes is too short for a model", len(buf))
	}
	if len(buf) > 1<<31-1 {
		return nil, fmt.Errorf("file of %d bytes exceeds the 2 GiB of the format", len(buf))
	}
	if id := string(buf[4:8]); id != "TFL3" {
		return nil, fmt.Errorf("not a TensorFlow Lite model: identifier %q at offset 4, want \"TFL3\"", id)
	}
	v := &verifier{buf: buf}
	root, err := v.offset(0, "root")
	if err != nil {
		return nil, err
	}
	return v, v.table(root, modelShape)
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
// each field of the shape, 0 for an absent one.
func (v *verifier) fields(pos int, s *tableShape) ([]int, error) {
	if v.tables++; v.tables > maxTables {
		return nil, fmt.Errorf("more than %d tables", maxTables)
	}
	vt := pos - int(int32(binary.LittleEndian.Uint32(v.buf[pos:])))
	if vt < 0 || vt+4 > len(v.buf) {
		return nil, fmt.Errorf("offset %#x: vtable of %s lies outside the file", pos, s.name)
	}
	vtBytes := int(binary.LittleEndian.Uint16(v.buf[vt:]))
	tabBytes := int(binary.LittleEndian.Uint16(v.buf[vt+2:]))
	if vtBytes < 4 || vtBytes%2 != 0 || vt+vtBytes > len(v.buf) || tabBytes < 4 || pos+tabBytes > len(v.buf) {
		return nil, fmt.Errorf("offset %#x: vtable of %s is damaged", vt, s.name)
	}
	at := make([]int, len(s.fields))
	for id, f := range s.fields {
		if 4+2*id+2 > vtBytes {
			break
		}
		o := int(binary.LittleEndian.Uint16(v.buf[vt+4+2*id:]))
		if o == 0 {
			continue
		}
		size := 4
		if f.kind == scalarField {
			size = f.bytes
		}
		if o < 4 || o+size > tabBytes {
			return nil, fmt.Errorf("offset %#x: field %d of %s lies outside its table", pos, id, s.name)
		}
		at[id] = pos + o
	}
	return at, nil
}

// table checks the table at pos and everything its shape follows.
func (v *verifier) table(pos int, s *tableShape) error {
	at, err := v.fields(pos, s)
	if err != nil {
		return err
	}
	for id, f := range s.fields {
		if at[id] == 0 || f.kind == scalarField || f.kind == unknownField {
			continue
		}
		what := fmt.Sprintf("field %d of %s", id, s.name)
		target, err := v.offset(at[id], what)
		if err != nil {
			return err
		}
		switch f.kind {
		case stringField:
			_, err = v.vector(target, 1, what)
		case vectorField:
			_, err = v.vector(target, f.bytes, what)
		case tableField:
			err = v.table(target, f.of)
		case tablesField:
			err = v.tablesAt(target, f.of, what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) tablesAt(pos int, of *tableShape, what string) error {
	n, err := v.vector(pos, 4, what)
	if err != nil {
		return err
	}
	for i := range n {
		target, err := v.offset(pos+4+4*i, of.name)
		if err != nil {
			return err
		}
		if err := v.table(target, of); err != nil {
			return fmt.Errorf("%s %d: %w", of.name, i, err)
		}
	}
	return nil
}

// options checks the option table of an operator against the shape that its
// code expects and returns its position, 0 when there is none.
func (v *verifier) options(op *schema.Operator, s *tableShape, unionType byte) (int, error) {
	if op.BuiltinOptionsType() == 0 {
		return 0, nil
	}
	if op.BuiltinOptionsType() != unionType {
		return 0, fmt.Errorf("options of kind %d, want %s (%d)", op.BuiltinOptionsType(), s.name, unionType)
	}
	t := op.Table()
	o := int(t.Offset(4 + 2*4))
	if o == 0 {
		return 0, nil
	}
	pos, err := v.offset(int(t.Pos)+o, "options")
	if err != nil {
		return 0, err
	}
	return pos, v.table(pos, s)
}
