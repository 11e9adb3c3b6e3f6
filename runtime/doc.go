// Package nnrt is what an application talks to: it compiles a model for one
// device or for the best device of each operation, runs the parts in order,
// falls back to the CPU for what a device declines, and compares results with
// the reference.
//
// It sees devices, the CPU among them, only through hal; it never sees an
// instruction. Devices come from a Registry that the caller fills.
// Parts of a partitioned model run one after the other; the simulated latency
// of a run is the sum of its parts'. Copies between processors are not
// modelled beyond each device's own launch cost: all share one DRAM.
package nnrt
