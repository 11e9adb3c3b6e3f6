// Package dram models a DRAM and its controller: per channel a read queue, a write buffer
// and a scheduler; banks and open rows with tRCD, tRP, tRAS, tRC, tRRD, tFAW, tWR, tWTR,
// tRTP, bus turnaround, refresh (all-bank or per-bank) and self-refresh.
//
// Requests are planned on calendars (plan.go), so that later ones can still go first.
// Scheduler, RowPolicy and Mapping are interfaces. docs/Memory.md has the rules and the
// comparison with clock-by-clock simulators.
//
// Not modelled: contention on the command bus, power-down, ranks, ECC.
package dram
