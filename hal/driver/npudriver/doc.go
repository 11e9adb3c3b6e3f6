// Package npudriver is the NNAPI driver of the NPU: it lowers 8-bit quantized graphs
// to Arm Ethos-U command streams.
//
// Feature maps are dense NHWC, or in bricks (NHCWB16) between two kernels that are faster
// with them. Constants (weight streams, bias and scale records, lookup tables) are in region 0,
// off chip; a copy engine moves weights to buffers on chip while earlier operations compute,
// or they are read in place when that is not slower, or stay on chip from one
// execution to the next where the machine allows it. Activations and buffers are at the
// first base pointer to on-chip memory if they fit, in DRAM (region 4) otherwise;
// model inputs and outputs are region 3. Device.Operator compiles for Arm's driver stack
// instead: inputs and outputs in an arena, two base pointers.
//
// Arithmetic is the NNAPI reference's to the bit: the hardware's double
// rounding is gemmlowp's, ADD uses the 32-bit operand scaling, functions of
// one byte are lookup tables, SOFTMAX is a chain of 32-bit elementwise
// operations, and so are the cells of quantized LSTMs, whose 16-bit states and gates are held in
// 32 bits. Filters and biases that are computed at run time are multiplied
// elementwise, since the array reads encoded weights only.
//
// # Packages
//
//	graph    (hal/driver/graph) a model made canonical by the passes in lower/family/table.go
//	lower    operations to steps: one file per family, one table from operation to function
//	step     a lowered graph as data: kernels and copies on values without addresses
//	kernel   what an operation command starts: shape, weights and their packer, registers
//	cost     the block of a kernel, and its cycles
//	layout   regions, feature maps, constants
//	plan     steps to a command stream: cascades, addresses, weights and
//	         tables ahead of their kernels, waits
//
// Batches are repetitions of kernels. Not lowered (refusedRows in lower/family/table.go): float
// tensors, QUANTIZE and DEQUANTIZE of anything but constants; arithmetic of 32-bit
// integers; indices that are inputs of an execution; HASHTABLE_LOOKUP and RANK;
// detection (regions, boxes, keypoints).
package npudriver
