// Package launch is the work of DSP steps, a record type for each kind of kernel: tensors,
// numbers and packed weights. A record launches its jobs: it chooses
// among kernels, variants and register tiles by package cost, packs constants, writes tables
// of the addresses that a kernel works on, and divides these among the hardware threads.
//
// The records refer neither to the graph nor to the operation that they came from, and hold no
// functions: they are printed, compared and planned more than once.
package launch
