// Package sim is virtual time: femtosecond instants, clock domains with DVFS
// points, the reasons a cycle is charged to, and the event wheel on which
// engines that run beside each other meet.
//
// It models no device. Memories are in sim/mem, energy in sim/power, machine
// presets in sim/soc, timelines in sim/trace.
package sim
