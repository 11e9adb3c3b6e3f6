// Package refcpu is the reference: NNAPI operations on the host's cores with
// the arithmetic that NNAPI's reference CPU defines, and the timing model of a
// simulated CPU cluster.
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
// Not modelled: relaxed float32 computes as float32.
package refcpu
