// Package cache models caches: set associative, LRU or tree PLRU, write-back or
// write-through, banks, MSHRs, next-line prefetch. Two frequent cases have a fast path:
// a miss straight to the DRAM behind a bus, and small writes through one cache
// into another (through.go).
package cache
