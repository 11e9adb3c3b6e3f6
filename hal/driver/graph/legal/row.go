package legal

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Row is the action of a device for operations of some element types. L is the argument of the device's
// lowerings.
type Row[L any] struct {
	Operations Operations
	Types      Types
	Action     Action[L]
	// Rules are constraints beside those of the table, checked in their order.
	Rules []Rule
	// Differs is by how much quantized results differ from those of the reference; "": they are
	// bit-exact.
	Differs string
}

// Operations lists the operations that a row is about.
type Operations []nn.OperationType

// Types are element types: those of the operand that decides (opspec.Row.Key).
type Types []nn.OperandType

// Others are all operations of the given types that no row names. It stands in at most one row
// per type.
var Others = Operations{-1}

// All are all element types that NNAPI allows for an operation; with Others, for the operations
// that no row names.
var All = Types{-1}

// Ops lists operations.
func Ops(list ...nn.OperationType) Operations { return list }

// Of lists element types.
func Of(list ...nn.OperandType) Types { return list }

// Sets of element types.
var (
	Bytes    = Of(nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned)
	Floats   = Of(nn.TensorFloat32, nn.TensorFloat16)
	Integers = Of(nn.TensorInt32)
	Booleans = Of(nn.TensorBool8)
)

// Codes are the types of this project's extensions whose elements are codes.
func Codes() (list Types) {
	for _, e := range nn.CodeExtensions() {
		list = append(list, e.Type())
	}
	return list
}

// Or is the union of two sets.
func (t Types) Or(more ...Types) Types { return slices.Concat(append([]Types{t}, more...)...) }

// Given returns the argument of a row for a lowering of several operations: an instruction, a function.
// It panics if the argument is missing, when the table is made: nothing has a meaning by default.
func Given[T comparable](what string, x T) T {
	var zero T
	if x == zero {
		panic("legal: a row gives no " + what)
	}
	return x
}

// Kind is what a device does with an operation.
type Kind uint8

// Kinds of actions. There is no zero kind.
const (
	Legally Kind = 1 + iota
	Expanded
	Widened
	Controlled
	Refused
)

var kindNames = [...]string{Legally: "legal", Expanded: "expand", Widened: "widen", Controlled: "control", Refused: "refuse"}

// String returns the kind as `nnsoc ops` prints it.
func (k Kind) String() string {
	if k >= Legally && k <= Refused {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Lower lowers an operation whose parameters and shapes are known; the error is the reason of a refusal.
type Lower[L any] func(l L, op *nn.Operation) error

// Viewer is a lowering that reads the operations of its graph.
type Viewer interface{ View() opspec.View }

// Read lowers an operation by its parameters, which its row in nn/opspec reads.
func Read[L Viewer, P any](lower func(L, *nn.Operation, P) error) Lower[L] {
	return func(l L, op *nn.Operation) error {
		p, err := opspec.Read[P](l.View(), op)
		if err != nil {
			return err
		}
		return lower(l, op, p)
	}
}

// Action is what a device does with the operations of a row. The zero Action is none.
type Action[L any] struct {
	kind  Kind
	lower Lower[L]
	pass  string
	into  Operations
	to    nn.OperandType
	why   string
}

// Or names a pass that replaces operations that a device lowers itself by others. It runs where
// they are cheaper by the device's cost model.
func (a Action[L]) Or(pass string, into ...nn.OperationType) Action[L] {
	a.pass, a.into = pass, into
	return a
}

// Legal lowers operations by a function.
func Legal[L any](lower Lower[L]) Action[L] { return Action[L]{kind: Legally, lower: lower} }

// Widen lowers operations by a function that computes with another type.
func Widen[L any](to nn.OperandType, lower Lower[L]) Action[L] {
	return Action[L]{kind: Widened, to: to, lower: lower}
}

// Expand leaves operations to a pass of package graph, which makes others of them.
func Expand[L any](pass string, into ...nn.OperationType) Action[L] {
	return Action[L]{kind: Expanded, pass: pass, into: into}
}

// Control leaves IF and WHILE to the driver, which runs their subgraphs where the table accepts all
// that is in them.
func Control[L any]() Action[L] { return Action[L]{kind: Controlled} }

// Refuse refuses operations; why is read behind "OPERATION: TYPE; ".
func Refuse[L any](why string) Action[L] { return Action[L]{kind: Refused, why: why} }
