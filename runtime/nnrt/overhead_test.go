package nnrt_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// instant is a device that supports everything and whose executions do nothing, once it has
// reported their costs.
type instant struct {
	hal.UnimplementedDevice
	hal.UnimplementedPreparedModel
	stats hal.Stats
}

func (d *instant) Name() string         { return "instant" }
func (d *instant) Description() string  { return "" }
func (d *instant) Version() string      { return "1" }
func (d *instant) Type() hal.DeviceType { return hal.DeviceAccelerator }

func (d *instant) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s := make([]hal.Support, len(m.Main.Operations))
	for i := range s {
		s[i].OK = true
	}
	return s, nil
}

func (d *instant) PrepareModel(m *nn.Model, _ hal.PrepareOptions) (hal.PreparedModel, error) {
	n := len(m.Main.Operations)
	p := &instant{stats: hal.Stats{Cycles: int64(n), LatencyFs: int64(n), ClockHz: 1e15, Operations: make([]hal.OperationStats, n)}}
	for i := range p.stats.Operations {
		p.stats.Operations[i] = hal.OperationStats{Index: i, Cycles: 1, TimeFs: 1, Stalls: []hal.StallCycles{{Reason: "issue", Cycles: 1}}, BoundBy: "issue"}
	}
	return p, nil
}

func (d *instant) Execute(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) {
	return &hal.Result{Stats: d.stats}, nil
}

// BenchmarkExecute is what the runtime adds to each execution of a network of 31
// operations, in host time: 20 us are the bound, 5 were seen.
func BenchmarkExecute(b *testing.B) {
	m := zoo.MustBuild("mobilenet_v1_0.25_128_quant")
	r := require.V(registry.New(&instant{}, &named{&instant{}, "device"}))(b)
	c := require.V(nnrt.Compile(r, m, "device", nnrt.CompileOptions{}))(b)
	in := [][]byte{make([]byte, m.Main.Operands[m.Main.Inputs[0]].Bytes())}
	b.ReportAllocs()
	for b.Loop() {
		require.V(c.Execute(in, nnrt.ExecuteOptions{}))(b)
	}
}

// named gives a device another name.
type named struct {
	hal.Device
	name string
}

func (d *named) Name() string { return d.name }
