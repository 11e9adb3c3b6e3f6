// Package advise proposes changes that may make a network faster on a device: to the network,
// to its lowering, to how it is executed, and to the machine. Each has a predicted gain, derived from what a run
// says of its time; whoever asks simulates the change and prints both.
//
// A prediction is the share of the latency that a change touches, times how much of it is
// expected to go: all of what a removed part costs, 1-1/f of what a unit f times as fast takes,
// 1-1/sqrt(2) of what a cache of twice the size misses (the square-root rule of cache misses:
// Hartstein and others, "Cache miss behavior: is it sqrt(2)?", Computing Frontiers 2006).
package advise
