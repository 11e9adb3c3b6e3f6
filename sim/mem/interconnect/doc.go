// Package interconnect models the path between the masters of a SoC and its DRAM:
//
//   - Bus: ports that share request, write and read channels.
//   - SystemCache: the last cache in front of a DRAM, shared by all masters of a bus,
//     each with its own allocation.
package interconnect
