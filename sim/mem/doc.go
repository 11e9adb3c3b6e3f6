// Package mem models memories in two halves that never mix: Space holds bytes
// (function), a Level answers when an access is done and who served it
// (timing). A functional run uses Space alone and gets the same bytes.
//
// Levels reserve what an access takes in the order of the calls:
//
//   - DRAM: a controller per channel with read queue, write buffer and scheduler;
//     banks and open rows with tRCD, tRP, tRAS, tRC, tRRD, tFAW, tWR, tWTR, tRTP, bus
//     turnaround, refresh (all-bank or per-bank) and self-refresh. Requests are
//     planned on calendars (dramplan.go), so that later ones can still go first.
//     Scheduler, RowPolicy and Mapping are interfaces. docs/Memory.md has the rules
//     and the comparison with clock-by-clock simulators.
//   - Cache: set associative, LRU or tree PLRU, write-back or write-through,
//     banks, MSHRs, next-line prefetch.
//   - SystemCache: the last cache in front of a DRAM, shared by all masters of a bus,
//     each with an allocation of its own.
//   - Scratchpad: banks and beats, conflicts between lanes.
//   - Bus: ports that share request, write and read channels.
//   - Path: a constant delay.
//   - DMA is an engine between two levels, with bursts and an outstanding limit.
//
// Not modelled: contention on the command bus, power-down, ranks, ECC; the order in which lines of one access
// return; coherence between caches. A clock that does not divide the bursts of
// its neighbour loses no beat at the crossing.
//
// Timing parameters are datasheet spans given by the caller (sim/soc). The
// tests hold each memory's isolated latency and sustained bandwidth against the
// closed form.
package mem
