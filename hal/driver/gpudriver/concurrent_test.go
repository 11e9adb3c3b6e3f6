package gpudriver

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestConcurrent: executions of one prepared model share nothing that changes:
// same bytes, same statistics, one after the other or at once.
func TestConcurrent(t *testing.T) {
	b, _ := convCases[3].build(nn.TensorFloat32)
	p := require.V(newDevice(t).PrepareModel(&b.m, hal.PrepareOptions{}))(t)
	in := encode(nn.TensorFloat32, b.inputs[0])
	run := func() ([]byte, *hal.Result, error) {
		out := make([]byte, b.m.Main.Operands[b.m.Main.Outputs[0]].Bytes())
		res, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{out}})
		return out, res, err
	}
	want, stats := require.V2(run())(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 2 {
				got, res, err := run()
				if err != nil || string(got) != string(want) {
					t.Errorf("an execution differs: %v", err)
				}
				if diff := cmp.Diff(stats, res); diff != "" {
					t.Errorf("the costs of an execution differ:\n%s", diff)
				}
			}
		})
	}
	wg.Wait()
}
