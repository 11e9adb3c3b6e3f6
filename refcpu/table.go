package refcpu

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Kernel executes a prepared operation on the buffers of a run.
type Kernel func(x *Run) error

// Prepare turns an operation into a kernel. It fails with opspec.ErrUnknown
// when a shape or a parameter is known only during execution.
type Prepare func(v opspec.View, op *nn.Operation) (Kernel, error)

// operation is how the reference executes an operation.
type operation struct {
	op      nn.OperationType
	prepare Prepare
	// ownShapes: the kernel gives the outputs shapes and memory itself, because these
	// depend on values.
	ownShapes bool
}

// families are the implementations of all operations that nn names; a family has a
// file.
var families = [][]operation{
	convKernels, depthwiseKernels, transposeConvKernels, denseKernels, poolKernels, elementwiseKernels, compareKernels,
	unaryKernels, softmaxKernels, quantizeKernels, reduceKernels, moveKernels, resizeKernels, lookupKernels, regionKernels,
	detectionKernels, rnnKernels, lstmKernels, quantizedLstmKernels, controlKernels,
}

// Table is a set of operations with their implementations. It does not change; With
// makes a larger one.
type Table struct {
	spec       *opspec.Table
	operations map[nn.OperationType]operation
}

var standard = sync.OnceValue(func() *Table {
	t := &Table{opspec.Standard(), map[nn.OperationType]operation{}}
	for _, o := range slices.Concat(families...) {
		t.operations[o.op] = o
	}
	return t
})

// Standard has the operations of opspec.Standard.
func Standard() *Table { return standard() }

// With returns a table that has one operation more. An operation that the table has
// already, and a row that cannot be parsed or has no shape rule, is an error.
func (t *Table) With(row opspec.Row, prepare Prepare) (*Table, error) {
	spec, err := t.spec.With(row)
	if err != nil {
		return nil, fmt.Errorf("refcpu: %w", err)
	}
	if !spec.Lookup(row.Op).HasShapeRule() || prepare == nil {
		return nil, fmt.Errorf("refcpu: %s has no shape rule or no implementation", row.Op)
	}
	u := &Table{spec, maps.Clone(t.operations)}
	u.operations[row.Op] = operation{op: row.Op, prepare: prepare}
	return u, nil
}

// Spec has the rows of the operations.
func (t *Table) Spec() *opspec.Table { return t.spec }

// Supported reports whether the table has an operation, apart from its types and
// parameters.
func (t *Table) Supported(op nn.OperationType) bool { return t.operations[op].prepare != nil }

// Supported is Standard's.
func Supported(op nn.OperationType) bool { return Standard().Supported(op) }
