// Package opspec describes the operations of NNAPI HAL 1.0 to 1.3 and of the
// feature levels above it. Each family of operations has a file of its own with the rows
// of its operations and what the rows name: the reader of the operands, the rule for the
// shapes of the outputs, the quantized arithmetic and the check of its scales, and the
// count of the work. The rows are the only place in the project that lists operations;
// validation, the reference CPU, the drivers, the costs and the manual read them.
//
// A Table is a value. Standard has the operations that hal/nn names; With makes a table
// that has another vendor's, too.
//
//	conv.go dense.go pool.go                 sums of products, windows
//	elementwise.go unary.go softmax.go       element by element
//	reduce.go                                reductions and normalizations
//	move.go pad.go strided.go resize.go      elements that move
//	lookup.go densify.go                     picked by index, key or place
//	regions.go detection.go                  regions of images, chosen by score
//	recurrent.go lstm.go quantizedlstm.go    cells and sequences of them
//	control.go                               subgraphs
//	codebook.go                              an extension's type and operation
//	table.go row.go view.go                  rows, their text form, operands
//	args.go values.go                        an operation's operands by the names of its row
//	infer.go work.go quant.go fixedpoint.go  what is common to the rules of the rows
//	extension.go                             codes of extensions, by model and by table
//	version.go                               what older HAL versions demand, and do not know
//
// On top of the rows it parses an operation into a plain struct (Conv, Pool,
// Elementwise, ...) with implicit padding resolved, layouts and axes made
// explicit, operands that are left out marked None, defaults filled in and every
// constant checked, infers output shapes, and holds the quantized arithmetic all
// implementations share: multipliers, activation ranges and the fixed-point functions
// behind softmax and logistic. Nobody outside knows at which place of an operation an
// input stands.
//
// Nothing here touches tensor data, except constants that steer an operation.
// A model may be hostile: every function returns an error rather than panic.
//
// Facts: the NNAPI HAL interface definitions, and the behaviour of the NNAPI
// reference CPU; fixed-point primitives after gemmlowp's public definition.
package opspec
