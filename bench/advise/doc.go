// Package advise proposes changes that may make a network faster on a device: to the network,
// to its lowering, to how it is executed, and to the machine. Each has a predicted gain, derived from the report of a
// run; the caller simulates the change and prints both.
//
// A prediction is the share of the latency that a change touches, times how much of it is
// expected to be saved: all of a removed part, 1-1/f of the time of a unit made f times as fast,
// 1-1/sqrt(2) of the misses of a cache of twice the size (the square-root rule of cache misses:
// Hartstein and others, "Cache miss behavior: is it sqrt(2)?", Computing Frontiers 2006).
package advise
