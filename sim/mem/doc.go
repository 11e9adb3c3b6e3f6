// Package mem models memories in two separate halves: Space holds bytes (function), a Level returns when an access is
// done and which level served it (timing). A functional run uses Space alone and computes the same bytes.
//
// Levels reserve the resources of accesses in the order of the calls:
//
//   - dram.DRAM: channels with a controller each, banks, rows, refresh.
//   - cache.Cache: the caches of a core.
//   - interconnect.Bus and interconnect.SystemCache: shared by all masters.
//   - Scratchpad: banks and beats, conflicts between lanes.
//   - Path: a constant delay.
//   - DMA is an engine between two levels, with bursts and an outstanding limit.
//
// Not modelled: the order in which lines of one access return; coherence between
// caches. A clock that does not divide the bursts of its neighbour loses no beat at the
// crossing.
//
// Timing parameters are datasheet spans from the caller (sim/soc). The tests compare each memory's isolated latency and
// sustained bandwidth with the closed form.
package mem
