// Package pprof writes the distribution of simulated cycles and energy, as a profile that "go tool pprof" opens and as
// folded stacks that flame graphs are drawn from, and sums such profiles up.
//
// A stack is device, operation of the model, program (kernel, job or kind of command), and the
// instruction in it. Values are cycles of the device's clock, simulated time, energy and
// executions; the labels "stall" and "instruction" hold the stall reason and the disassembly.
package pprof
