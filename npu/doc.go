// Package npu simulates an NPU that executes Arm Ethos-U register commands.
//
// A Core is a machine described by a Spec: the MAC array, the output unit, the
// weight decoder, the internal SRAM (SHRAM) and the memories behind its ports.
// Run executes a command stream on byte regions: convolutions, depthwise
// convolutions, pooling, elementwise operations, copies and waits, with the
// arithmetic of the hardware to the bit. Beside it runs a timing model in which
// the blocks of an operation flow through fetch, MAC array, output unit and
// write-back, and every cycle is charged to one reason and one program region.
//
// internal/state has registers, SHRAM and the operation that registers describe, which internal/decode decodes and
// internal/exec executes (with the sums of internal/mac). This package is the machine and its timing: core.go the run,
// time.go and pipeline.go the flow of blocks, blocks.go the cycles of one, hazard.go missing waits, mem.go and
// energy.go.
//
// Function and time: an operation is evaluated as a whole, since no block size
// or buffer placement may change a result; only OFM_BLK_DEPTH matters, for decoding
// the weight stream. The timing model then walks the operation's blocks.
//
// Streams are checked against the requirements of the hardware: extents inside their regions,
// alignment, buffers that fit SHRAM where IB_END and AB_START put them, and a
// wait between copies and kernels that share bytes. Anything else is an error
// that names the command.
//
// Not modelled: the performance counters, custom DMA, security attributes,
// accumulator overflow (sums are exact), contention inside SHRAM banks, AXI
// outstanding limits, and hazards between kernels that too large a BLOCKDEP
// would permit.
//
// docs/EthosUTiming.md lists the rules of the timing model, their sources and the
// cycles of public networks beside those of Arm's own model.
//
// Sources: command semantics and weight format as described in package ethosu;
// micro-blocks, output cycles, delays and memory defaults are those of Vela
// 3.10's architecture table and performance model, in sim/soc/ethos-*.toml. The NPU
// of pixel4.toml is not a product of Arm: its numbers are marked there.
package npu
