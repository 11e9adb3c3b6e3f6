// Package mem models memories in two halves that never mix: Space holds bytes
// (function), a Level answers when an access is done and who served it
// (timing). A functional run uses Space alone and gets the same bytes.
//
// Levels: dram (banks, rows, refresh), cache, scratchpad, dma, interconnect.
package mem
