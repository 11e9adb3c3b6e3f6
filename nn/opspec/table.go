// Package opspec describes the operations of NNAPI HAL 1.0 to 1.3 and of the
// feature levels above it. Each family of operations has a separate file with the rows
// of its operations and the functions that the rows name: the reader of the operands, the rule for the
// shapes of the outputs, the quantized arithmetic and the check of its scales, and the
// count of the work. The rows are the only place in the project that lists operations;
// validation, the reference CPU, the drivers, the costs and the manual read them.
//
// A Table is a value. Standard has the operations that nn names; With makes a table
// that has another vendor's, too.
//
//	conv.go pool.go                     sums of products, windows
//	elementwise.go unary.go             element by element
//	reduce.go                           reductions, softmax, normalizations
//	move.go strided.go image.go         elements that move, images resized
//	lookup.go                           picked by index, key or place
//	detection.go                        regions of images, chosen by score
//	recurrent.go lstm.go                cells and sequences of them
//	control.go                          subgraphs
//	host.go                             operators outside NNAPI, of no Table here
//	row.go table.go                     rows, their text form, tables and codes of extensions
//	args.go values.go                   an operation's operands by the names of its row
//	infer.go quant.go work.go           common parts of the rules of the rows
//
// On top of the rows it parses an operation into a plain struct (Conv, Pool,
// Elementwise, ...) with implicit padding resolved, layouts and axes made
// explicit, operands that are left out marked None, defaults filled in and every
// constant checked, infers output shapes, and derives the quantized arithmetic all
// implementations share from the scales: multipliers of nn/fixedpoint, activation ranges
// and tables. No other package depends on the position of an input of an operation.
//
// Nothing here touches tensor data, except constants that steer an operation.
// A model may be hostile: every function returns an error rather than panic.
//
// Facts: the NNAPI HAL interface definitions, and the behaviour of the NNAPI
// reference CPU.
package opspec

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/nn"
)

// Table is a set of operations. It does not change; With makes a larger one. A nil *Table
// is Standard.
type Table struct {
	rows [nn.OperationCount]*Row   // NNAPI's operations
	more map[nn.OperationType]*Row // of extensions
	// extensions are the extensions with an operation in the table, with the prefixes of
	// their codes in it.
	extensions []nn.ExtensionPrefix
}

// families are the rows of all operations that nn names.
var families = [][]Row{
	convRows, denseRows, poolRows, elementwiseRows, unaryRows, softmaxRows, quantizeRows, reduceRows, reshapeRows, concatRows, padRows,
	stridedRows, blockRows, resizeRows, lookupRows, densifyRows, regionRows, detectionRows, recurrentRows, lstmRows, quantizedLstmRows, controlRows, codeRows(),
}

// standard is parsed at first use.
var standard = sync.OnceValue(func() *Table {
	t := &Table{}
	if err := t.add(slices.Concat(families...)); err != nil {
		panic(err) // a row of this package
	}
	return t
})

// Standard has the operations that nn names: NNAPI's, and those of this project's
// extensions.
func Standard() *Table { return standard() }

// With returns a table that has more operations, of another vendor's extension: their
// codes have a prefix of it, and their rows its name. An operation that the table has
// already, a prefix of another extension, and a row that cannot be parsed or has no Args,
// is an error.
func (t *Table) With(rows ...Row) (*Table, error) {
	t = t.orStandard()
	u := &Table{t.rows, maps.Clone(t.more), slices.Clone(t.extensions)}
	if err := u.add(rows); err != nil {
		return nil, err
	}
	return u, nil
}

func (t *Table) orStandard() *Table {
	if t == nil {
		return Standard()
	}
	return t
}

func (t *Table) add(rows []Row) error {
	for _, r := range rows {
		if t.lookup(r.Op) != nil {
			return fmt.Errorf("opspec: two rows for %s", r.Op)
		}
		if err := r.parse(); err != nil {
			return fmt.Errorf("opspec: row %s: %w", r.Op, err)
		}
		if r.Args == nil {
			return fmt.Errorf("opspec: row %s: nothing reads its arguments", r.Op)
		}
		if !nn.IsExtensionOperationType(r.Op) && r.Op.Valid() {
			t.rows[r.Op] = &r
			continue
		}
		if err := t.extend(&r); err != nil {
			return fmt.Errorf("opspec: row %s: %w", r.Op, err)
		}
	}
	return nil
}

func (t *Table) lookup(op nn.OperationType) *Row {
	if op >= 0 && int(op) < len(t.rows) {
		return t.rows[op]
	}
	return t.more[op]
}

// Lookup returns the row of an operation, nil when the table has none.
func (t *Table) Lookup(op nn.OperationType) *Row {
	return t.orStandard().lookup(op)
}

// Lookup returns the row of an operation of the Standard table, nil when it has none.
func Lookup(op nn.OperationType) *Row { return Standard().Lookup(op) }

// KeyTypes lists the types the key operand may have, in the row's order.
func (r *Row) KeyTypes() []nn.OperandType {
	var ts []nn.OperandType
	for _, k := range r.keys {
		ts = append(ts, k.t)
	}
	return ts
}

func (r *Row) keySince(t nn.OperandType) (Version, bool) {
	for _, k := range r.keys {
		if k.t == t {
			return k.since, true
		}
	}
	return 0, false
}

// TypeSince is the HAL version that allows the key type t; ok is false when
// none does.
func (r *Row) TypeSince(t nn.OperandType) (v Version, ok bool) {
	v, ok = r.keySince(t)
	return max(v, r.Since), ok
}

// KeySlots reports which of n inputs carry data of the key type: those that
// have it by the row's form for n inputs.
func (r *Row) KeySlots(n int) []bool {
	slots := make([]bool, n)
	for _, s := range r.forms {
		varAt, varLen := -1, 0
		for i := range s.in {
			if s.in[i].variadic {
				varAt, varLen = i, n-(len(s.in)-1)
			}
		}
		if varLen < 0 || varAt < 0 && !slices.Contains(s.ends, n) {
			continue
		}
		for i := range slots {
			slots[i] = s.in[slotOf(i, varAt, varLen)].class == classKey
		}
		break
	}
	return slots
}

// Input is an input of an operation that a row describes.
type Input struct {
	Name string
	Type nn.OperandType
}

// Inputs are all inputs of the row's last form, with their types for a key type; where an
// input has a choice of types, it is the key type.
func (r *Row) Inputs(key nn.OperandType) (list []Input) {
	slots := r.forms[len(r.forms)-1].in
	for i := range slots {
		list = append(list, Input{slots[i].name, slots[i].typeFor(key)})
	}
	return list
}

// OutputName is the name of output i, "" where a form names none.
func (r *Row) OutputName(i int) string {
	for _, o := range r.forms[0].outs {
		if i < len(o.slots) {
			return o.slots[i].name
		}
	}
	return ""
}

// Calls reports whether an operation of the Standard table refers to subgraphs.
func Calls(op nn.OperationType) bool {
	r := Lookup(op)
	return r != nil && r.calls
}

// KeyOf is the key type of an operation as written; ok is false when the
// operation does not match its row.
func KeyOf(g *nn.Subgraph, op *nn.Operation) (t nn.OperandType, ok bool) {
	a, err := ModelView(g).Bind(op)
	return a.Key, err == nil
}

// extend adds a row of an extension.
func (t *Table) extend(r *Row) error {
	prefix, _ := nn.SplitExtensionCode(int32(r.Op))
	if prefix == 0 || r.Extension == "" {
		return fmt.Errorf("code %d with prefix %d of extension %q, both needed", r.Op, prefix, r.Extension)
	}
	for _, e := range t.extensions {
		if (e.Prefix == prefix) != (e.Name == r.Extension) {
			return fmt.Errorf("prefix %d for extension %q, but %d is that of %q", prefix, r.Extension, e.Prefix, e.Name)
		}
	}
	if e := (nn.ExtensionPrefix{Name: r.Extension, Prefix: prefix}); !slices.Contains(t.extensions, e) {
		t.extensions = append(t.extensions, e)
	}
	if t.more == nil {
		t.more = map[nn.OperationType]*Row{}
	}
	t.more[r.Op] = r
	return nil
}

// Prefix is the prefix of an extension's codes in the table; 0 when it has none of it.
func (t *Table) Prefix(name string) uint16 {
	for _, e := range t.orStandard().extensions {
		if e.Name == name {
			return e.Prefix
		}
	}
	return 0
}

// Declare lists in a model the extensions of the table whose codes it has. Importers and
// builders, which make models with the codes of a table, call it.
func (t *Table) Declare(m *nn.Model) {
	t = t.orStandard()
	eachCode(m, func(code int32) int32 {
		prefix, _ := nn.SplitExtensionCode(code)
		i := slices.IndexFunc(t.extensions, func(e nn.ExtensionPrefix) bool { return e.Prefix == prefix })
		if i >= 0 && !slices.Contains(m.Extensions, t.extensions[i]) {
			m.Extensions = append(m.Extensions, t.extensions[i])
		}
		return code
	})
}

// Localize returns the model with the table's codes for the extensions in the table,
// whatever their prefixes in the model: tables and lowerings are indexed by code.
// Extensions outside the table keep their prefix, or are assigned a free one if it is
// another extension's in the table. A model that has the table's prefixes is returned
// unchanged.
func (t *Table) Localize(m *nn.Model) *nn.Model {
	t = t.orStandard()
	used := map[uint16]bool{}
	for _, e := range slices.Concat(t.extensions, m.Extensions) {
		used[e.Prefix] = true
	}
	to, next, same := map[uint16]uint16{}, uint16(1), true
	list := slices.Clone(m.Extensions)
	for i, e := range list {
		p := t.Prefix(e.Name)
		if p == 0 {
			p = e.Prefix
			if slices.ContainsFunc(t.extensions, func(x nn.ExtensionPrefix) bool { return x.Prefix == p }) {
				for used[next] {
					next++
				}
				p, used[next] = next, true
			}
		}
		to[e.Prefix], list[i].Prefix = p, p
		same = same && p == e.Prefix
	}
	if same {
		return m
	}
	c := *m
	c.Extensions = list
	c.Main = cloned(&m.Main)
	c.Referenced = nil
	for i := range m.Referenced {
		c.Referenced = append(c.Referenced, cloned(&m.Referenced[i]))
	}
	eachCode(&c, func(code int32) int32 {
		prefix, number := nn.SplitExtensionCode(code)
		if p, ok := to[prefix]; ok {
			return nn.ExtensionCode(p, number)
		}
		return code
	})
	return &c
}

// cloned is a subgraph whose codes can be changed.
func cloned(g *nn.Subgraph) nn.Subgraph {
	c := *g
	c.Operands, c.Operations = slices.Clone(g.Operands), slices.Clone(g.Operations)
	return c
}

// eachCode replaces every code of an operand type or operation that has a prefix.
func eachCode(m *nn.Model, replace func(code int32) int32) {
	for g := range m.Subgraphs() {
		for i := range g.Operands {
			if o := &g.Operands[i]; nn.IsExtensionOperandType(o.Type) {
				if code := replace(int32(o.Type)); code != int32(o.Type) {
					o.Type = nn.OperandType(code)
				}
			}
		}
		for i := range g.Operations {
			if op := &g.Operations[i]; nn.IsExtensionOperationType(op.Type) {
				if code := replace(int32(op.Type)); code != int32(op.Type) {
					op.Type = nn.OperationType(code)
				}
			}
		}
	}
}
