package linux

import (
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// codeBase is where the programs of the tests begin.
const codeBase = 0x10000

// coldCore is the DSP of a preset; every run has its own memory, cold.
type coldCore struct {
	*dsp.Core
	soc *soc.Config
}

func newCold(t testing.TB, preset string) *coldCore {
	t.Helper()
	c := require.V(soc.Load(preset))(t)
	s := require.V(dsp.FromSoC(c, sim.FastSingleAnswer))(t)
	core := require.V(dsp.New(s))(t)
	return &coldCore{core, c}
}

func testCore(t testing.TB) *coldCore { return newCold(t, "pixel4") }

func (c *coldCore) Exec(ps []*Process, o dsp.Options) (*sim.Report, error) {
	if !o.Functional {
		var err error
		if o.Memory, _, err = c.soc.NewPath("dsp", 0); err != nil {
			return nil, err
		}
	}
	return Exec(c.Core, ps, o)
}
