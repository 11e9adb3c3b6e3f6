package soc

import "slices"

// Engine is a kind of processor of a SoC.
type Engine uint8

// Engines.
const (
	EngineCPU Engine = iota // the CPU as an engine: the reference's kernels
	EngineGPU
	EngineDSP
	EngineNPU
	NumEngines
)

var engineNames = [NumEngines]string{"cpu", "gpu", "dsp", "npu"}

// String is the name of the section and the device.
func (e Engine) String() string { return engineNames[e] }

// EngineNamed is the engine of a device's name; ok is false when there is none.
func EngineNamed(name string) (e Engine, ok bool) {
	i := slices.Index(engineNames[:], name)
	return Engine(max(i, 0)), i >= 0
}

// Governed reports whether a governor moves the clock of an engine by its load. The CPU, whose clusters have their own
// clocks, does not count.
func (c *Config) Governed(e Engine) bool {
	x, err := c.requester(e)
	return err == nil && e != EngineCPU && x.clock.Governor != nil
}
