// Package dsp is the Hexagon V66 core with 128-byte HVX vectors: it fetches
// and decodes real packets from a program image, executes them on a simulated
// address space, and times them.
//
// # What it models
//
//   - Function: every form of isa/hexagon, one Go function per operation
//     (internal/exec, with tables by operation, on the state of
//     internal/state) and, for the forms of inner loops, an assembly twin
//     (internal/asm, from internal/asmgen) at two levels, AVX2 and AVX-512 with VNNI
//     and VBMI. Packets read before they write: the decoder orders the
//     instructions of a packet, or copies an old value where they exchange
//     registers (internal/decode). New values, .cur and .tmp vectors, predication,
//     hardware loops with sp1loop0..sp3loop0, sticky overflow.
//   - Time: up to Threads hardware threads, each issuing at most one packet per
//     slot of IssueInterval core cycles, or of AloneInterval where no more than
//     IssueWidth of them run. Operand interlocks follow the operand
//     cycles of the form table (schedule.go). L1I, L1D (scalar only), L2, VTCM,
//     DRAM, posted stores, l2fetch and dcfetch (mem.go), the scatter/gather unit
//     (scatter.go). Threads interleave
//     in the order of their memory accesses (time.go). Each cycle is charged to
//     one sim.Reason; the reasons of a job are those of its last thread.
//   - Energy: counted events times a table, static power times time (energy.go).
//
// # What it does not model
//
// Interrupts, virtual memory, monitor and guest mode;
// operations by the Z window that no public source describes; a stack of return addresses. A scalar load that misses stops its
// thread; the vector pipeline hides VectorLoadCycles of a vector load. Slots of
// different threads do not compete: the interval between packets of a thread is
// long enough for all threads of a job, whether or not others wait. Threads of one job must not race for memory: a
// functional run executes them one after another.
//
// # Where the numbers come from
//
// Operand cycles, slots and pipes are those of LLVM 19's Hexagon tables. The
// rest is from the [dsp] section of a SoC preset (sim/soc), where each number names
// its source.
package dsp
