package drivertest

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// Outputs are buffers for the outputs of a model of fixed shapes.
func Outputs(m *nn.Model) (list [][]byte) {
	for _, x := range m.Main.Outputs {
		list = append(list, make([]byte, m.Main.Operands[x].Bytes()))
	}
	return list
}

// Reference is the reference's outputs of a model of fixed shapes.
func Reference(t testing.TB, m *nn.Model, inputs [][]byte) [][]byte {
	t.Helper()
	ref := require.V(refcpu.Compile(m))(t)
	out := Outputs(m)
	require.NoError(t, ref.Run(inputs, out, refcpu.Options{}))
	return out
}

// Exact runs a model whose operations a device supports, and demands the reference's bytes, and reasons that add up to
// the cycles where there are such.
func Exact(t testing.TB, d hal.Device, m *nn.Model, inputs [][]byte, functional bool) *hal.Result {
	t.Helper()
	support := require.V(d.SupportedOperations(m))(t, d.Version())
	for i, s := range support {
		if !s.OK {
			t.Fatalf("%s: operation %d %v: %s", d.Version(), i, m.Main.Operations[i].Type, s.Reason)
		}
	}
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t, d.Version())
	want, got := Reference(t, m, inputs), Outputs(m)
	res, err := hal.Execute(p, &hal.Buffers{Inputs: inputs, Outputs: got, ExecuteOptions: hal.ExecuteOptions{Functional: functional}})
	require.NoError(t, err, d.Version())
	for i := range want {
		if bytes.Equal(got[i], want[i]) {
			continue
		}
		n, first := 0, -1
		for k := range want[i] {
			if got[i][k] != want[i][k] {
				if n++; first < 0 {
					first = k
				}
			}
		}
		t.Fatalf("%s: output %d: %d of %d bytes differ, first %d: %d, want %d", d.Version(), i, n, len(want[i]), first, got[i][first], want[i][first])
	}
	if !functional {
		var sum int64
		for _, s := range res.Stats.Stalls {
			sum += s.Cycles
		}
		require.Check(t, sum == res.Stats.Cycles && sum != 0, "%s: stalls add up to %d of %d cycles", d.Version(), sum, res.Stats.Cycles)
	}
	return res
}
