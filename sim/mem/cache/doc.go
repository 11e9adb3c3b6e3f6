// Package cache models caches: set associative, LRU or tree PLRU, write-back or
// write-through, banks, MSHRs, next-line prefetch. Two steps that are frequent have a way of
// their own: a miss straight to the DRAM behind a bus, and small writes through one cache
// into another (through.go).
package cache
