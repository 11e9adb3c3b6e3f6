// Package launch is what steps of the DSP compute, a record for each kind of kernel: tensors,
// numbers and packed weights, which know how to make jobs of themselves. A record chooses
// among kernels, variants and register tiles by package cost, packs constants, lists in tables
// which addresses a kernel works on, and divides these among the hardware threads.
//
// The records know neither the graph nor the operation that they came from, and hold no
// functions: they are printed, compared and planned more than once.
package launch
