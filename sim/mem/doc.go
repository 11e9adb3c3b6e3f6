// Package mem models memories in two halves that never mix: Space holds bytes
// (function), a Level answers when an access is done and who served it
// (timing). A functional run uses Space alone and gets the same bytes.
//
// Levels reserve what an access takes in the order of the calls:
//
//   - dram.DRAM: channels with a controller each, banks, rows, refresh.
//   - cache.Cache: what a core has of its own.
//   - interconnect.Bus and interconnect.SystemCache: what masters share.
//   - Scratchpad: banks and beats, conflicts between lanes.
//   - Path: a constant delay.
//   - DMA is an engine between two levels, with bursts and an outstanding limit.
//
// Not modelled: the order in which lines of one access return; coherence between
// caches. A clock that does not divide the bursts of its neighbour loses no beat at the
// crossing.
//
// Timing parameters are datasheet spans given by the caller (sim/soc). The
// tests hold each memory's isolated latency and sustained bandwidth against the
// closed form.
package mem
