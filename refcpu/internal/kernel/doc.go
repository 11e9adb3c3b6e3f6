// Package kernel holds the inner loops of the reference CPU: matrix products
// over packed operands, requantization and depthwise accumulation, sums of scaled rows, and an exponential
// that is the same on all hosts.
//
// Every loop of the products exists as portable Go and, on amd64, as assembly that avo generates (gen/). Both compute
// the same bits for every input: integer sums wrap modulo 2^32, and float sums multiply and add separately, in the same
// order. The build tag purego selects the portable loops everywhere.
package kernel
