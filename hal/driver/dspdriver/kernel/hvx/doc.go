// Package hvx builds kernels for the Hexagon DSP: programs of V66 scalar and HVX
// vector instructions that every hardware thread runs on its own range of work.
//
// A kernel is a comparable Go value that implements Kernel: the value is the key
// of its code, so a kernel is compiled once, no matter how many layers use it. Emit
// writes instructions in virtual registers through a Builder; Compile schedules
// them into packets, pipelines loops and allocates registers (isa/codegen); Link
// gives the packets addresses. A kernel that doubles the bytes of a range:
//
//	type doubling struct{}
//
//	func (doubling) Name() string { return "doubling" }
//
//	// Emit: arguments are the input, the output and the number of vectors.
//	func (doubling) Emit(b *hvx.Builder) {
//		in := b.Args("in", "out", "vectors")
//		b.Loop0(in[2], func() {
//			v := b.V("x")
//			b.Op(hexagon.V6_vL32b_pi, v, in[0], 1).Loads(hvx.AliasIn)
//			b.Op(hexagon.V6_vaddubsat, v, v, v)
//			b.Op(hexagon.V6_vS32b_pi, in[1], 1, v).Stores(hvx.AliasOut)
//		})
//		b.Ret()
//	}
//
// # Conventions
//
// A thread starts with its arguments in r0, r1, .. and ends with Ret. Args must
// be called first. Tables, parameter blocks and constants are words in
// memory, little-endian; Word loads one. Vectors are VectorBytes long.
//
// Every memory access names an alias class. Accesses of different classes are
// scheduled past each other, so a kernel whose input may overlap its output
// must use one class for both.
//
// Loop0 and Loop1 are the hardware loops; innermost loops without calls or
// branches are software-pipelined. Hardware loops run at least once.
//
// # Requantization
//
// Requant (the numbers, in Go) and Requantizer (the code) convert 32-bit
// accumulators to bytes as NNAPI defines it. Three forms give the same
// results: products of words, of halfwords, and of a byte and a fraction.
//
// # Errors
//
// Operands that do not fit an instruction are a bug of the kernel and panic.
// A kernel that needs more registers than there are is an error of Compile. No
// kernel spills: generators choose tiles that fit (Image.Cost is 0 for the others).
package hvx
