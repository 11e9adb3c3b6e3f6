// Package codegen compiles kernels written in virtual registers to groups of instructions in physical ones. It is
// independent of the instruction set: a Target names the register classes, the latencies and what fits into one issue
// group (a VLIW packet, or a single instruction on a scalar-issue machine).
//
// A kernel is a Func: blocks of instructions, each instruction an opcode of
// the target and operands with roles. Compile runs, in this order,
//
//	liveness   which register units are live into and out of each block
//	schedule   per block: dependence graph, critical-path list scheduling into groups, with a guard on register pressure
//	allocate   live segments over the scheduled groups, linear scan with aligned tuples
//
// and returns the groups. A function that needs most registers is scheduled in
// several ways, by the longest path and in source order, and the one with the
// shortest loops is chosen; a schedule is abandoned when its loops become longer than
// those of the best. When allocation fails it is scheduled again with more
// registers left free, and last in source order, which needs the fewest; when that
// fails too, the error names the class, the function and the place. The schedule of a
// function that requests it is refined (refine.go): rescheduled backward and forward.
//
// Software pipelining is done by hand: Weave interleaves independent streams of instructions.
//
// Not modelled: spilling (kernels are written to fit), moving code across
// blocks, if-conversion.
package codegen
