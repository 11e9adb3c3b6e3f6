package fuzzing_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/fuzzing"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// FuzzAdder is the fuzz test that a driver author writes.
func FuzzAdder(f *testing.F) { fuzzing.Device(f, nil, driver.New()) }

// wrongDevice changes the sign and the exponent of the first element of each result.
type wrongDevice struct{ hal.Device }

func (d wrongDevice) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return wrongModel{p}, err
}

type wrongModel struct{ hal.PreparedModel }

func (p wrongModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	if err == nil {
		l := r.Outputs[0].Location
		r.Pools[l.PoolIndex].Memory.Data[l.Offset+3] ^= 0xff
	}
	return res, err
}

// A wrong result of a supported operation is found by the cases that a fuzzer draws, and no other operation is blamed.
func TestWrongResultIsFound(t *testing.T) {
	wrong := wrongDevice{driver.New()}
	table := randgraph.Standard()
	judged, found := 0, 0
	for i, v := range table.Variants() {
		if v.Op != nn.OpAdd && v.Op != nn.OpRelu && v.Op != nn.OpMul {
			continue
		}
		for seed := range byte(8) {
			choices := make([]byte, 24)
			for k := range choices {
				choices[k] = byte(k)*37 + seed*59
			}
			c := table.Decode(append([]byte{byte(i), byte(i>>8) | byte(len(choices))<<2}, choices...))
			if c == nil {
				continue
			}
			o := randgraph.Options{Functional: true}
			supported, err := randgraph.Judge(wrong, c, o)
			if supported {
				judged++
			}
			if err != nil {
				found++
				require.Check(t, supported, "%v: declined, and %v", c.Variants, err)
			}
			require.Report(t, require.Err(randgraph.Judge(driver.New(), c, o)), c.Variants, "the driver that is right")
		}
	}
	require.Check(t, judged >= 4 && found >= judged, "%d of %d cases found", found, judged)
}
