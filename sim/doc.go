// Package sim is virtual time: femtosecond instants, clock domains with their
// governors, and the reasons a cycle is charged to.
//
// It models no device. Memories are in sim/mem, energy and heat in sim/power,
// files of SoCs in sim/soc, machines made of them in sim/platform, timelines in sim/trace.
//
// A Clock never drifts: cycle k begins at origin + floor(k * 1e15 / f). A Domain
// keeps its operating point, its Governor's record of the load and whether it
// sleeps; a preference, a thermal cap and a client's floor limit the governor.
// Not modelled: voltage ramps apart from frequency.
package sim
