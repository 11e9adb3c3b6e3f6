package session

import (
	"math"
	"strconv"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestOneSuite: a machine that differs from a preset by next to nothing reports next to the same, to the second digit,
// whatever the preference: figures of both are of one suite at the same clocks.
func TestOneSuite(t *testing.T) {
	const name = "ethos-u55-32"
	plain := require.V(soc.Load(name))(t)
	changed := require.V(soc.LoadChanged(name, soc.Change{Key: "dram.mt_per_s", Value: strconv.FormatFloat(plain.DRAM.MTPerS*(1+1e-6), 'g', -1, 64)}))(t)
	a := require.V(Open(plain, Options{Preference: hal.LowPower}))(t).Registry.Devices()
	b := require.V(Open(changed, Options{Preference: hal.LowPower}))(t).Registry.Devices()
	for i := range a {
		mine, other := a[i].Capabilities(), b[i].Capabilities()
		for operand, x := range mine.Operand {
			for _, pair := range [][2]float32{{x.ExecTime, other.Operand[operand].ExecTime}, {x.PowerUsage, other.Operand[operand].PowerUsage}} {
				near := pair[0] == pair[1] || math.Abs(float64(pair[1]/pair[0])-1) < 0.1
				require.Check(t, near, "%s, %v: %v, changed %v", a[i].Name(), operand, pair[0], pair[1])
			}
		}
	}
}
