// Package gpu is a cycle-level simulator of a SIMT graphics core that runs AMD
// RDNA2 (gfx1030) machine code in compute dispatches.
//
// A core has clusters (work-group processors, or shader processors) of compute
// units; a compute unit has SIMDs, each with several resident waves of 32 or
// 64 lanes. Code is decoded once per kernel into flat micro-operations. Every
// instruction executes on simulated registers, LDS and memory, and the same
// micro-operation says when it issues and when its result is ready.
//
// # Packages
//
// internal/state is what a program sees of a wave and its work-group, and the decoded
// operation; internal/decode makes operations, internal/exec has their handlers and the
// tables that say what each computes, internal/memory the handlers of loads, stores and
// atomics, internal/float the arithmetic, internal/asm the routines of the hot ones, and
// internal/schedule what timing knows of operations before they run. This package has the
// machine and its time: core.go the run, overlap.go queues and their dispatches, dispatch.go
// and place.go work-groups, time.go and issue_run.go the issue, wave.go and check.go results
// on their way, units.go and mem.go what is shared, energy.go.
//
// # Modelled
//
// In-order issue per wave with one instruction of each type per SIMD and cycle,
// oldest wave first; result latencies and unit occupancy; the four wait
// counters and their limits; EXEC masks, VCC, SCC, M0; LDS with bank conflicts;
// barriers; work-group placement limited by registers, LDS and wave slots;
// dispatches beside each other, of one queue without a barrier or of several queues;
// coalescing of lane addresses into cache lines; vector L0, scalar and
// instruction caches; GL1 and L2 in front of whatever mem.Level is given.
//
// Private memory is laid out as the hardware swizzles it: buffer instructions with
// the segment's descriptor, generic addresses in the private aperture and scratch
// instructions reach the same bytes, and each dword of a wave is a stretch of
// memory that goes through the caches. An access beyond a lane's scratch is a fault.
//
// # How time advances
//
// Nothing ticks. Each wave knows when its next instruction can issue and why not
// before; the SIMD whose next issue is earliest goes first, so shared units
// (LDS, caches, DRAM) see requests in time order. Vector instructions whose
// operands are ready issue as a run, worked out when the kernel is decoded, as
// nobody else can notice them. Two simplifications follow: a run is cut where an
// older wave of the SIMD already wants the vector unit, not where one gets there
// after another kind of instruction; and a SIMD may be up to 200 cycles ahead of
// the others with such runs, so a wave that starts meanwhile joins that late.
// What vector instructions compute follows their issue, when the wave comes to an
// instruction of another kind: until then nobody can see it.
//
// # Not modelled
//
// Graphics, images, exports, GDS, trap handlers (a trap is a fault of the kernel),
// preemption, priorities of queues (D-1416), packet processing beyond a fixed
// launch cost. Rounding other than nearest-even and flushed denormals are
// refused. A load's result is visible to the program at once: reading it before
// its wait counter says so is reported as an error instead of giving the stale
// value the hardware would.
//
// # Where the numbers come from
//
// Instruction latencies are the ones the open-source RDNA2 compilers schedule
// with; machine shapes, cache sizes and measured bandwidths are those of the
// SoC presets. Values without a public source say "assumed" at the field.
package gpu
