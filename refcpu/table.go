// Package refcpu is the reference: NNAPI operations on the host's cores with the arithmetic that NNAPI's reference CPU
// defines. Their costs on a simulated CPU are in package timing.
//
// Every device is judged by its results. Quantized arithmetic is exact to the bit; float sums are plain float32 in
// ascending order of the filter's taps, each product and each sum rounded, float16 tensors compute in float32. The same
// model and inputs produce the same bytes on any machine and with any number of threads.
//
// Compile prepares a model: shapes, packed weights, lookup tables. Parts that depend on values or shapes known only to
// an execution are prepared then.
//
// Each family of operations has a file with a table of its operations, as in nn/opspec:
//
//	conv.go depthwise.go dense.go                    sums of products, by internal/gemm
//	pool.go                                          windows and images
//	elementwise.go unary.go quantize.go reduce.go    arithmetic
//	move.go lookup.go                                copies, and elements picked
//	regions.go detection.go                          regions of images
//	recurrent.go lstm.go quantizedlstm.go control.go cells, sequences, subgraphs
//
// A Table is a value; With adds an operation to a copy, which Compile accepts in a Config.
//
// Not modelled: relaxed float32 computes as float32.
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

// Prepare prepares the kernel of an operation. It fails with opspec.ErrUnknown when a shape or a parameter is known
// only during execution.
type Prepare func(v opspec.View, op *nn.Operation) (Kernel, error)

// read prepares an operation by its parameters, which its row in nn/opspec reads.
func read[P any](prepare func(opspec.View, *nn.Operation, P) (Kernel, error)) Prepare {
	return func(v opspec.View, op *nn.Operation) (Kernel, error) {
		p, err := opspec.Read[P](v, op)
		if err != nil {
			return nil, err
		}
		return prepare(v, op, p)
	}
}

// operation is how the reference executes an operation.
type operation struct {
	op      nn.OperationType
	prepare Prepare
	// ownShapes: the kernel sets shapes and memory of the outputs itself, because these depend on values.
	ownShapes bool
}

// families are the implementations of all operations that nn names; a family has a
// file.
var families = [][]operation{
	convKernels, depthwiseKernels, transposeConvKernels, denseKernels, poolKernels, elementwiseKernels, compareKernels,
	unaryKernels, softmaxKernels, quantizeKernels, reduceKernels, moveKernels, resizeKernels, lookupKernels, regionKernels,
	detectionKernels, rnnKernels, lstmKernels, quantizedLstmKernels, controlKernels,
	codeKernels(),
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
