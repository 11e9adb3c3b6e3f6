// Package sim is virtual time: femtosecond instants, clock domains with DVFS
// points, the reasons a cycle is charged to, and the event wheel on which
// engines that run beside each other meet.
//
// It models no device. Memories are in sim/mem, energy in sim/power, machine
// presets in sim/soc, timelines in sim/trace.
//
// A Clock never drifts: cycle k begins at origin + floor(k * 1e15 / f). A
// Domain numbers cycles through frequency changes, stands still while it ramps
// and sleeps when idle; its one governor maps an execution preference to an
// operating point. Not modelled: thermal limits, a governor that reacts to load,
// and voltage ramps apart from frequency.
package sim
