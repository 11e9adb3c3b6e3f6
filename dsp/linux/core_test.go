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

// coldCore is the DSP of a preset; every run has a memory of its own, cold.
type coldCore struct {
	*dsp.Core
	soc *soc.Config
}

func newCold(t testing.TB, preset string) *coldCore {
	t.Helper()
	c, err := soc.Load(preset)
	require.NoError(t, err)
	s, err := dsp.FromSoC(c, sim.FastSingleAnswer)
	require.NoError(t, err)
	core, err := dsp.New(s)
	require.NoError(t, err)
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
