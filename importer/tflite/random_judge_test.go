package tflite

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/shapetest"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// TestOracleTFLiteRandom holds random networks of a few operators against TensorFlow Lite: what it runs, the importer opens
// and the reference runs to the same shapes and numbers. NNSOC_NETWORKS=FROM:COUNT runs others.
func TestOracleTFLiteRandom(t *testing.T) {
	oracle.Need(t, "gcc")
	judgeNetworks(t, drawNetwork)
}

// TestOracleTFLiteHost does so for networks with operators outside NNAPI. The importer may refuse those whose shapes it
// would have to know.
func TestOracleTFLiteHost(t *testing.T) {
	oracle.Need(t, "gcc")
	judgeNetworks(t, drawHostNetwork)
}

// TestOracleTFLiteMore does so for operators that files have less often.
func TestOracleTFLiteMore(t *testing.T) {
	oracle.Need(t, "gcc")
	judgeNetworks(t, drawMoreNetwork)
}

// TestOracleTFLiteWide does so for networks with activations of 16 bits and constants of FLOAT16.
func TestOracleTFLiteWide(t *testing.T) {
	oracle.Need(t, "gcc")
	judgeNetworks(t, drawWideNetwork)
}

func judgeNetworks(t *testing.T, draw func(seed uint64) *randomNetwork) {
	j := newJudge(t)
	from, end := shapetest.Seeds(t, 300)
	var nets []*randomNetwork
	var list []*judgement
	for seed := from; seed < end; seed++ {
		n := draw(seed)
		nets, list = append(nets, n), append(list, &judgement{file: n.bytes(), given: n.given(), outputs: len(n.outputs)})
	}
	j.run(t, list)
	compared, refused := 0, 0
	for i, n := range nets {
		if list[i].refused != "" {
			t.Logf("network %d: TensorFlow Lite does not run it: %s", from+uint64(i), list[i].refused)
			continue
		}
		compared++
		problem := n.against(list[i])
		var u *Unsupported
		switch {
		case problem == nil:
		case n.runtime && errors.As(problem, &u):
			refused++
			t.Logf("network %d: %v", from+uint64(i), problem)
		default:
			t.Errorf("network %d: %v\n%s", from+uint64(i), problem, n)
		}
	}
	t.Logf("%d networks compared, %d of them refused, %d that TensorFlow Lite does not run", compared, refused, len(list)-compared)
}

// against is the first difference from TensorFlow Lite's outputs.
func (n *randomNetwork) against(want *judgement) error {
	m, err := Import(want.file, nil)
	if err != nil {
		return err
	}
	if err := validate.ModelOf(hostop.Table().Spec(), m); err != nil {
		return fmt.Errorf("validate: %w", err)
	}
	p, err := refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table()})
	if err != nil {
		return err
	}
	in := make([]refcpu.Tensor, len(m.Main.Inputs))
	for i := range in {
		in[i].Data = n.inputs[i].held()
	}
	got, err := p.Execute(in, refcpu.Options{})
	if err != nil {
		return err
	}
	for k, v := range n.outputs {
		o := m.Main.Operands[m.Main.Outputs[k]]
		d := want.differs(k, v.Type, &got[k], o.Type, 2e-5)
		if d.text != "" && !(d.units <= v.steps && !math.IsInf(d.units, 0)) {
			return fmt.Errorf("output %d (%s): %s", k, v.Name, d.text)
		}
	}
	return nil
}
