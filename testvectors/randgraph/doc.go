// Package randgraph tests a device on random models, in the manner of the
// random graph tests of Android's Compatibility Test Suite (CTS): models of
// one operation, and small graphs.
//
// A model is generated from a signature per operation (table.go): which shapes, parameters, value ranges and
// quantizations are legal. The types are those of the operation's row in nn/opspec, the shapes of results from its
// shape rule. The rules are CTS's: dimensions with a bounded product, inputs that are constants with probability 0.5,
// an edge between a result and a later compatible input with probability 0.1, floats in [-2, 2], TENSOR_INT32 in [0,
// 255], 8-bit values over the full range, a bias scale that is the product of its factors. The device's results are
// compared with the reference CPU's by CTS's criteria (criteria.go): a bound per element, on the mean error and on the
// mean squared error, per class of operation.
//
// Different from CTS: shapes are drawn operation by operation, not solved as
// a network of constraints; the expected result is that of the reference CPU
// in the types of the model, and only on demand that of the equivalent float32
// model (golden.go), which tests the reference as well; 8-bit graphs exist,
// because an operation adopts the quantization of the result it reads; there
// are chains, in which edges are the rule; float16 elements, values above 100 and
// NaN are compared, which CTS leaves out; regions, detection, recurrent
// operations, control flow and the operations above HAL 1.3 have signatures.
//
// Every decision of a model is one entry of a list of small numbers in which 0
// is the simplest (source.go). The list reproduces the model, and lowering and
// shortening it shrinks the model while every attempt stays legal
// (shrink.go). The result is written as an Android test specification
// (modpy.go) that fails the same way when a test runner executes it.
package randgraph
