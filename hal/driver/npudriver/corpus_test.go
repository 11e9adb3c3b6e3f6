package npudriver

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// TestCorpus runs every case of the corpus whose operations the driver
// declares supported.
func TestCorpus(t *testing.T) {
	s := testvectors.Run(t, machines(t)[0], nil)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	if s.Passed < 2380 {
		t.Errorf("only %d cases ran", s.Passed)
	}
}

// TestCorpusIsExact demands the reference's bytes of the supported cases of the corpus, and that they are at
// least 92 % of the quantized ones without float tensors or control flow, invalid models counted among those.
func TestCorpusIsExact(t *testing.T) {
	list := machines(t)
	var quantizedCases, exact int
	for i, name := range nnapi.Names() {
		f := require.V(testvectors.Document(name))(t)
		d := list[i%len(list)]
		for _, c := range f.Cases {
			counts := c.Model != nil && quantized(c.Model)
			if counts {
				quantizedCases++
			}
			if c.Model == nil || c.ExpectFailure || !supported(d, c.Model) {
				continue
			}
			var inputs [][]byte
			for _, v := range c.Inputs {
				inputs = append(inputs, v.Data)
			}
			if t.Run(c.Name, func(t *testing.T) { drivertest.Exact(t, d, c.Model, inputs, true) }) && counts {
				exact++
			}
		}
	}
	t.Logf("%d of %d quantized cases are exact", exact, quantizedCases)
	if 100*exact < 92*quantizedCases {
		t.Errorf("%d of %d quantized cases are exact, 92 %% are due", exact, quantizedCases)
	}
}

// quantized reports whether a model has quantized tensors, no float ones, and neither IF nor WHILE.
func quantized(m *nn.Model) bool {
	some := false
	for _, g := range append([]nn.Subgraph{m.Main}, m.Referenced...) {
		for i := range g.Operands {
			switch o := &g.Operands[i]; {
			case o.Type == nn.TensorFloat32 || o.Type == nn.TensorFloat16:
				return false
			default:
				some = some || strings.Contains(o.Type.String(), "QUANT")
			}
		}
		for i := range g.Operations {
			if op := g.Operations[i].Type; op == nn.OpIf || op == nn.OpWhile {
				return false
			}
		}
	}
	return some
}

// supported reports whether a device accepts all of a model whose outputs have known shapes.
func supported(d hal.Device, m *nn.Model) bool {
	for _, x := range m.Main.Outputs {
		if !m.Main.Operands[x].Known() {
			return false
		}
	}
	support, err := d.SupportedOperations(m)
	for _, s := range support {
		if !s.OK {
			return false
		}
	}
	return err == nil
}
