// Package rdna builds kernels for the GPU: gfx1030 instructions in virtual registers
// (isa/rdna2) with operations that kernels on tensors share, such as addresses in
// the arena, division by constants, loads of stored elements, and reductions across
// lanes. Instructions are scheduled and registers allocated when the kernel is
// linked.
package rdna
