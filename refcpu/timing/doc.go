// Package timing is the model of a simulated CPU cluster: cycles, bytes and energy of the
// reference's operations from the work that opspec counts, with the rates of cores,
// caches and DRAM in a SoC file.
//
// The cycles of an operation are charged in order: issue of its arithmetic, loads and
// dependent accesses, the wait for the slowest thread, transfers through the second and
// third level of cache, and DRAM where it is slower than all of these; the cost of launching is
// added. Nothing depends on values.
package timing
