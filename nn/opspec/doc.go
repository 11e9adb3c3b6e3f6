// Package opspec describes the operations of NNAPI HAL 1.0 to 1.3 and of the
// feature levels above it. Each family of operations has a file of its own with the rows
// of its operations and what the rows name: the reader of the operands, the rule for the
// shapes of the outputs, the quantized arithmetic and the check of its scales, and the
// count of the work. The rows are the only place in the project that lists operations;
// validation, the reference CPU, the drivers, the costs and the manual read them.
//
// A Table is a value. Standard has the operations that nn names; With makes a table
// that has another vendor's, too.
//
//	conv.go dense.go pool.go            sums of products, windows
//	elementwise.go unary.go quantize.go element by element
//	reduce.go                           reductions, softmax, normalizations
//	move.go pad.go strided.go image.go  elements that move, images resized
//	lookup.go densify.go                picked by index, key or place
//	detection.go                        regions of images, chosen by score
//	recurrent.go lstm.go                cells and sequences of them
//	control.go                          subgraphs
//	row.go table.go                     rows, their text form, tables and codes of extensions
//	args.go values.go                   an operation's operands by the names of its row
//	infer.go quant.go work.go           what is common to the rules of the rows
//
// On top of the rows it parses an operation into a plain struct (Conv, Pool,
// Elementwise, ...) with implicit padding resolved, layouts and axes made
// explicit, operands that are left out marked None, defaults filled in and every
// constant checked, infers output shapes, and derives the quantized arithmetic all
// implementations share from the scales: multipliers of nn/fixedpoint, activation ranges
// and tables. Nobody outside knows at which place of an operation an input stands.
//
// Nothing here touches tensor data, except constants that steer an operation.
// A model may be hostile: every function returns an error rather than panic.
//
// Facts: the NNAPI HAL interface definitions, and the behaviour of the NNAPI
// reference CPU.
package opspec
