package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// testSpec is the pixel4 preset's DSP.
func testSpec(t testing.TB) Spec { return presetSpec(t, "pixel4") }

// coldCore is a core whose runs have their own memory, cold, unless they specify one.
type coldCore struct {
	*Core
	newMemory func() (mem.Level, error)
}

// newCold has the memory of pixel4, or the flat one for a machine of microSpec.
func newCold(s Spec) (*coldCore, error) {
	c, err := New(s)
	if err != nil {
		return nil, err
	}
	return &coldCore{c, func() (mem.Level, error) {
		if s.Name == microName {
			return flat{flatCycles * sim.Nanosecond}, nil
		}
		p, err := soc.Load("pixel4")
		if err != nil {
			return nil, err
		}
		m, _, err := p.NewPath("dsp", 0)
		return m, err
	}}, nil
}

func (c *coldCore) cold(o Options) Options {
	if o.Memory == nil && o.State == nil && !o.Functional {
		m, err := c.newMemory()
		if err != nil {
			panic(err)
		}
		o.Memory = m
	}
	return o
}

func (c *coldCore) Run(p *Program, space *mem.Space, jobs []Job, o Options) (*sim.Report, error) {
	return c.Core.Run(p, space, jobs, c.cold(o))
}

func (c *coldCore) RunThread(p *Program, space *mem.Space, r *Registers, halt uint32, o Options) (*sim.Report, error) {
	return c.Core.RunThread(p, space, r, halt, c.cold(o))
}

func testCore(t testing.TB) *coldCore {
	t.Helper()
	c := require.V(newCold(testSpec(t)))(t)
	return c
}
