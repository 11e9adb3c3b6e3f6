package texel

import "github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"

// Candidates are the ways to divide the work of a kernel among lanes.
func (k *Kernel) Candidates() []Shape { return k.candidates(&k.machine) }

// Cycles is what a way is chosen by.
func (s *Shape) Cycles(m *kernel.Machine) float64 { return s.cycles(m) }

// Name is what listings call the kernel.
func (s *Shape) Name() string { return s.name() }
