package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// TestCorpus runs every case of the corpus whose operations the driver
// declares supported.
func TestCorpus(t *testing.T) {
	s := testvectors.Run(t, machines(t)[0], nil)
	t.Logf("%d passed, %d failed, %d unsupported", s.Passed, s.Failed, s.Unsupported)
	if s.Passed < 2100 {
		t.Errorf("only %d cases ran", s.Passed)
	}
}

// TestCorpusIsExact demands the reference's bytes of the supported cases of the corpus.
func TestCorpusIsExact(t *testing.T) {
	list := machines(t)
	for i, name := range nnapi.Names() {
		f, err := testvectors.Document(name)
		if err != nil {
			t.Fatal(err)
		}
		d := list[i%len(list)]
		for _, c := range f.Cases {
			if c.Model == nil || c.ExpectFailure || !supported(d, c.Model) {
				continue
			}
			var inputs [][]byte
			for _, v := range c.Inputs {
				inputs = append(inputs, v.Data)
			}
			t.Run(c.Name, func(t *testing.T) { check(t, d, c.Model, inputs, true) })
		}
	}
}

// supported reports whether a device takes all of a model whose outputs have known shapes.
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
