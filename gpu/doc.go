// Package gpu is a cycle-level simulator of a SIMT graphics core that runs AMD
// RDNA2 (gfx1030) machine code in compute dispatches.
//
// A core has clusters (work-group processors, or shader processors) of compute
// units; a compute unit has SIMDs, each with several resident waves of 32 or
// 64 lanes. Code is decoded once per kernel into flat micro-operations. Every
// instruction executes on simulated registers, LDS and memory; the same
// micro-operation determines when it issues and when its result is ready.
//
// # Packages
//
// internal/state is the architectural state of a wave and its work-group, and the decoded
// operation; internal/decode decodes, internal/exec has the handlers of operations and the
// tables of their semantics, internal/memory the handlers of loads, stores and atomics,
// internal/float the arithmetic, internal/asm assembly for hot operations, and internal/schedule the static timing of
// operations. This package is the machine and its timing: core.go the run, overlap.go queues and their dispatches,
// dispatch.go and place.go work-groups, time.go and issue_run.go issue, wave.go and check.go results in flight,
// units.go the units that instructions occupy, coalesce.go what an access asks of the memory, hierarchy.go the memory with
// the order in which it is called, energy.go.
//
// # Modelled
//
// In-order issue per wave with one instruction of each type per SIMD and cycle, oldest wave first; result latencies and
// unit occupancy; the four wait counters and their limits; EXEC masks, VCC, SCC, M0; LDS with bank conflicts; barriers;
// work-group placement limited by registers, LDS and wave slots; concurrent dispatches, of one queue without a barrier
// or of several queues; coalescing of lane addresses into cache lines; vector L0, scalar and instruction caches; GL1
// and L2 in front of any mem.Level.
//
// Private memory is laid out as the hardware swizzles it: buffer instructions with
// the segment's descriptor, generic addresses in the private aperture and scratch
// instructions reach the same bytes, and each dword of a wave is a stretch of
// memory that goes through the caches. An access beyond a lane's scratch is a fault.
//
// # How time advances
//
// There is no clock tick. Each wave records when its next instruction can issue and the reason for the wait; the SIMD
// whose next issue is earliest advances first, so shared units (LDS, caches, DRAM) see requests in time order. Vector
// instructions whose operands are ready issue as a run, scheduled when the kernel is decoded, because they use nothing
// shared. Two simplifications follow: a run is cut where an older wave of the SIMD is already waiting for the vector
// unit, not where one arrives after another kind of instruction; and a SIMD may be up to 200 cycles ahead of the others
// with such runs, so a wave that starts meanwhile joins that late. Vector instructions are executed after their issue,
// when the wave reaches an instruction of another kind: until then their results are not visible.
//
// # Not modelled
//
// Graphics, images, exports, GDS, trap handlers (a trap is a fault of the kernel),
// preemption, priorities of queues (D-1416), packet processing beyond a fixed
// launch cost. Rounding other than nearest-even, FP16_OVFL and flushed denormals of
// doubles are refused; without IEEE mode signalling NaNs are quieted all the same (D-2000). A load's result is visible to the program at once: reading it before
// its wait counter allows is an error; hardware would return the stale
// value.
//
// # Where the numbers come from
//
// Instruction latencies are those that open-source RDNA2 compilers schedule with; machine shapes, cache sizes and
// measured bandwidths are those of the SoC presets. Values without a public source are marked "assumed" at the field.
package gpu
