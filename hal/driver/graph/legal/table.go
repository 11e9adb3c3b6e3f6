package legal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Table is what a device accepts. It does not change.
type Table[L any] struct {
	Config
	at map[key]*Row[L]
}

type key struct {
	op nn.OperationType
	t  nn.OperandType
}

// Config is what holds for all rows of a table.
type Config struct {
	// Device names the device in refusals: "this GPU".
	Device string
	// Passes make a model canonical before the table is queried.
	Passes pass.Pipeline
	// Deferred is the rule of rows without one for operations that are promised before their
	// parameters are known.
	Deferred Rule
	// Rules hold for all rows that do not refuse.
	Rules []Rule
}

// Must returns a table that New has made, and panics when there is an error: a mistake of the
// driver.
func Must[L any](t *Table[L], err error) *Table[L] {
	if err != nil {
		panic(err)
	}
	return t
}

// New returns the table of rows, with a row for every operation and element type of NNAPI and of
// this project's extensions. The error joins all that is wrong with it.
func New[L any](c Config, rows ...Row[L]) (*Table[L], error) {
	t := &Table[L]{Config: c, at: map[key]*Row[L]{}}
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf("legal: "+format, args...)) }
	if c.Device == "" || c.Deferred.Phase != Deferred {
		fail("a table needs a device and a rule for deferred operations")
	}
	for i := range rows {
		if err := rows[i].check(c.Passes); err != nil {
			wrong = append(wrong, err)
		}
	}
	place := func(r *Row[L], op nn.OperationType, typ nn.OperandType) {
		if t.at[key{op, typ}] != nil {
			fail("two rows for %s of %s", op, typ)
			return
		}
		t.at[key{op, typ}] = r
	}
	for i := range rows { // rows that name operations come before those of all others
		for _, op := range rows[i].Operations {
			if op == Others[0] {
				continue
			}
			allowed := keyTypes(op)
			for _, typ := range rows[i].Types {
				switch {
				case typ == All[0]:
					for _, typ := range allowed {
						place(&rows[i], op, typ)
					}
				case slices.Contains(allowed, typ):
					place(&rows[i], op, typ)
				}
			}
			if !slices.ContainsFunc(allowed, func(typ nn.OperandType) bool { return rows[i].Types.has(typ) }) {
				fail("row of %s: NNAPI has it of none of %s", op, rows[i].Types)
			}
		}
	}
	for i := range rows {
		if !slices.Equal(rows[i].Operations, Others) {
			continue
		}
		for _, op := range nn.Operations() {
			for _, typ := range keyTypes(op) {
				if r := t.at[key{op, typ}]; r == nil && rows[i].Types.has(typ) {
					t.at[key{op, typ}] = &rows[i]
				}
			}
		}
	}
	for _, op := range nn.Operations() {
		for _, typ := range keyTypes(op) {
			if t.at[key{op, typ}] == nil {
				fail("no row for %s of %s", op, typ)
			}
		}
	}
	wrong = append(wrong, t.checkExpansions()...)
	return t, errors.Join(wrong...)
}

// Extensions are the names of this project's extensions with an operation that the table accepts.
func (t *Table[L]) Extensions() (names []string) {
	for _, op := range nn.Operations() {
		r := opspec.Lookup(op)
		if r == nil || r.Extension == "" || slices.Contains(names, r.Extension) {
			continue
		}
		if slices.ContainsFunc(r.KeyTypes(), func(typ nn.OperandType) bool { return t.at[key{op, typ}].Action.kind != Refused }) {
			names = append(names, r.Extension)
		}
	}
	return names
}

// keyTypes are the element types of an operation. Operations that nn does not name have none.
func keyTypes(op nn.OperationType) []nn.OperandType {
	if r := opspec.Lookup(op); r != nil {
		return r.KeyTypes()
	}
	return nil
}

// has reports whether t is among the types.
func (l Types) has(t nn.OperandType) bool { return slices.Contains(l, t) || slices.Contains(l, All[0]) }

// String lists the types without the prefix that all tensors share.
func (l Types) String() string {
	var s []string
	for _, t := range l {
		if t == All[0] {
			return "any type"
		}
		s = append(s, strings.TrimPrefix(t.String(), "TENSOR_"))
	}
	return strings.Join(s, ", ")
}

// check returns what is wrong with a row by itself.
func (r *Row[L]) check(passes pass.Pipeline) error {
	var wrong []error
	fail := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("legal: row of %v: %s", r.Operations, fmt.Sprintf(format, args...)))
	}
	if len(r.Operations) == 0 || len(r.Types) == 0 {
		fail("it has no operations or no types")
	}
	a := &r.Action
	switch a.kind {
	case Legally, Widened:
		if a.lower == nil {
			fail("it has no lowering")
		}
		if slices.Equal(r.Operations, Others) {
			fail("operations without a row of their own can only be refused")
		}
		if (a.pass == "") != (len(a.into) == 0) {
			fail("an alternative has a pass, and operations that it makes")
		}
	case Expanded:
		if len(a.into) == 0 {
			fail("an expansion makes some operations")
		}
	case Controlled:
		if slices.ContainsFunc(r.Operations, func(op nn.OperationType) bool { return !opspec.Calls(op) }) {
			fail("it calls no subgraphs")
		}
	case Refused:
		if a.why == "" || len(r.Rules) > 0 {
			fail("a refusal has a reason, and no rules")
		}
	default:
		fail("it has no action")
	}
	if (a.kind == Expanded || a.pass != "") && !slices.ContainsFunc(passes, func(p pass.Pass) bool {
		return p.Name == a.pass && !slices.ContainsFunc(r.Operations, func(op nn.OperationType) bool { return !slices.Contains(p.Expands, op) })
	}) {
		fail("the device has no pass %q that expands it", a.pass)
	}
	for _, rule := range r.Rules {
		if rule.Text == "" || rule.Phase < Always || rule.Phase > Lowering || (rule.Check == nil) != (rule.Phase == Lowering) {
			fail("rule %q has no text, no phase, or no check", rule.Text)
		}
	}
	return errors.Join(wrong...)
}

// checkExpansions finds expansions that end in an operation which the table refuses or expands
// again, and passes that expand what has no such row.
func (t *Table[L]) checkExpansions() (wrong []error) {
	for k, r := range t.at {
		for _, op := range r.Action.into {
			next := t.at[key{op, k.t}]
			if next == nil || next.Action.kind == Refused || op == k.op {
				wrong = append(wrong, fmt.Errorf("legal: %s of %s expands to %s, which the table refuses", k.op, k.t, op))
			}
		}
	}
	for _, p := range t.Passes {
		for _, op := range p.Expands {
			if !slices.ContainsFunc(keyTypes(op), func(typ nn.OperandType) bool {
				r := t.at[key{op, typ}]
				return r != nil && r.Action.pass == p.Name
			}) {
				wrong = append(wrong, fmt.Errorf("legal: pass %q expands %s, which no row names", p.Name, op))
			}
		}
	}
	return wrong
}

// row finds the row of an operation, which must match NNAPI's.
func (t *Table[L]) row(g *graph.Graph, v opspec.View, op *nn.Operation) (*Row[L], *Subject, error) {
	a, err := v.Bind(op)
	if err != nil {
		return nil, nil, err
	}
	r := t.at[key{op.Type, a.Key}]
	if r == nil { // of an extension that this table does not know
		return nil, nil, &Refusal{op.Type, a.Key, fmt.Errorf("%s has no lowering for it", t.Device)}
	}
	if r.Action.kind == Refused {
		return nil, nil, &Refusal{op.Type, a.Key, errors.New(r.Action.why)}
	}
	return r, &Subject{a, g}, nil
}

// rules checks the rules of some phases.
func (t *Table[L]) rules(r *Row[L], s *Subject, phases ...Phase) error {
	for _, list := range [2][]Rule{t.Rules, r.Rules} {
		for _, rule := range list {
			if !slices.Contains(phases, rule.Phase) {
				continue
			}
			if err := rule.Check(rule, s); err != nil {
				return about(s.Op, err)
			}
		}
	}
	return nil
}

// Types returns why the device does not accept an operation whatever its parameters and shapes are.
func (t *Table[L]) Types(g *graph.Graph, v opspec.View, op *nn.Operation) error {
	r, s, err := t.row(g, v, op)
	if err != nil {
		return about(op, err)
	}
	return t.rules(r, s, Always)
}

// Defers returns why an operation cannot be promised before its parameters and shapes are known.
func (t *Table[L]) Defers(g *graph.Graph, v opspec.View, op *nn.Operation) error {
	r, s, err := t.row(g, v, op)
	if err != nil {
		return about(op, err)
	}
	if !slices.ContainsFunc(r.Rules, func(x Rule) bool { return x.Phase == Deferred }) {
		if err := t.Deferred.Check(t.Deferred, s); err != nil {
			return about(op, err)
		}
	}
	return t.rules(r, s, Deferred)
}

// Lower lowers an operation whose parameters and shapes are known; the error is the reason why
// the device does not accept it.
func (t *Table[L]) Lower(l L, g *graph.Graph, v opspec.View, op *nn.Operation) error {
	r, s, err := t.row(g, v, op)
	if err != nil {
		return about(op, err)
	}
	if err := t.rules(r, s, Always, Known); err != nil {
		return err
	}
	if r.Action.kind == Expanded {
		return &Refusal{op.Type, Any, fmt.Errorf("the pass %q does not expand it with these types and sizes", r.Action.pass)}
	}
	if r.Action.kind == Controlled {
		return &Refusal{op.Type, Any, errors.New("subgraphs are not lowered with other operations")}
	}
	return about(op, r.Action.lower(l, op))
}

// Instead reports whether a pass expands an operation that the device can lower itself, where that is
// cheaper.
func (t *Table[L]) Instead(g *graph.Graph, v opspec.View, op *nn.Operation, pass string) bool {
	r, _, err := t.row(g, v, op)
	return err == nil && r.Action.kind != Expanded && r.Action.pass == pass
}

// Expands reports whether a device leaves an operation to a pass.
func (t *Table[L]) Expands(g *graph.Graph, v opspec.View, op *nn.Operation, pass string) bool {
	r, _, err := t.row(g, v, op)
	return err == nil && r.Action.kind == Expanded && r.Action.pass == pass
}
