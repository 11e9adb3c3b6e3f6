package machine

import (
	"strconv"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestSetOfTheSame: a --set of the value that a key has, of any key of two presets, leaves the machine,
// its name and what its devices report as they are; another value marks the name.
func TestSetOfTheSame(t *testing.T) {
	for _, name := range []string{"pixel4", "sd888"} {
		plain := require.V(soc.Load(name))(t)
		for _, k := range require.V(soc.Keys(name))(t) {
			a := &cli.App{SoC: name, Set: []string{k.Path + "=" + strconv.FormatFloat(k.Value, 'g', -1, 64)}}
			c, err := LoadSoC(a)
			if err != nil {
				t.Errorf("%s: --set %s: %v", name, a.Set[0], err)
				continue
			}
			require.Equal(t, plain, c, name+" --set "+a.Set[0])
			require.Check(t, devices.Measured(c), "%s: --set %s makes it %q", name, a.Set[0], c.SoC.Name)
		}
	}
	require.Same(t, "", Changed(&cli.App{SoC: "pixel4", Set: []string{"dram.mt_per_s=4266"}}))
	a := &cli.App{SoC: "pixel4", Set: []string{"dram.mt_per_s=4200"}}
	c := require.V(LoadSoC(a))(t)
	require.Same(t, "pixel4 with dram.mt_per_s=4200", c.SoC.Name)
	require.Same(t, " with dram.mt_per_s=4200", Changed(a))
}
