package dspdriver

import (
	"bytes"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestSharedKernels prepares a network on two machines whose devices share kernels, at
// the same time and again: the programs are those of devices that share nothing.
func TestSharedKernels(t *testing.T) {
	specs := [2]dsp.Spec{device(t).cfg.Spec, device(t).cfg.Spec}
	specs[1].IssueInterval++ // other schedules
	program := func(s dsp.Spec, kernels *Kernels) []byte {
		d, err := New(Config{Spec: s, Kernels: kernels})
		if err != nil {
			t.Error(err)
			return nil
		}
		m, _ := smallNetwork()
		p, err := d.PrepareModel(m, hal.PrepareOptions{})
		if err != nil {
			t.Error(err)
			return nil
		}
		var out bytes.Buffer
		for _, part := range compile.Programs(p) {
			for _, x := range part {
				require.Report(t, x.WriteProgram(&out))
			}
		}
		return out.Bytes()
	}
	var own [2][]byte
	for i, s := range specs {
		own[i] = program(s, nil)
	}
	if bytes.Equal(own[0], own[1]) {
		t.Fatal("the machines have the same program")
	}
	var kernels Kernels
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if got := program(specs[i%2], &kernels); !bytes.Equal(got, own[i%2]) {
				t.Errorf("machine %d: another program with shared kernels", i%2)
			}
		})
	}
	all.Wait()
}
