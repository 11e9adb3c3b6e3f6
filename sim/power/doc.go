// Package power turns event counts into energy: a table gives each event its
// picojoules at a reference voltage, dynamic energy scales with (V/Vref)^2,
// static power runs with time.
//
// It does not model temperature (sim/thermal does), leakage that depends on voltage, or
// the battery. The tables are part of the machine description (sim/soc), where
// each number names its source.
package power
