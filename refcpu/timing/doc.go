// Package timing is the model of a simulated CPU cluster: cycles, bytes and energy of the
// reference's operations from the work that opspec counts, with the rates of cores,
// caches and DRAM that a SoC file gives.
//
// The cycles of an operation are charged in order: issue of its arithmetic, loads and
// dependent accesses, the wait for the slowest thread, transfers through the second and
// third level of cache, and what DRAM takes longer than all of these; launching it is
// added. Nothing depends on values.
package timing
