// Package refcpu is the reference: NNAPI operations on the host's cores with
// the arithmetic that NNAPI's reference CPU defines. What a simulated CPU takes for them
// is in package timing.
//
// Every device is judged by its results. Quantized arithmetic is exact to the
// bit; float sums are plain float32 in ascending order of the filter's taps,
// each product and each sum rounded, float16 tensors compute in float32. The
// same model and inputs give the same bytes on any machine and with any number
// of threads.
//
// Compile prepares a model: shapes, packed weights, lookup tables. What depends
// on values or shapes that only an execution knows is prepared then.
//
// Each family of operations has a file with a table of its operations, as in nn/opspec:
//
//	conv.go depthwise.go transposeconv.go dense.go   sums of products, by gemm.go
//	pool.go resize.go                                windows and images, by image.go
//	elementwise.go unary.go quantize.go reduce.go    arithmetic
//	move.go lookup.go                                copies, and elements picked
//	regions.go detection.go                          regions of images
//	recurrent.go lstm.go quantizedlstm.go control.go cells, sequences, subgraphs
//
// A Table is a value; one with another operation is made by With and given to Compile in
// a Config.
//
// Not modelled: relaxed float32 computes as float32.
package refcpu
