package offline

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver"
	"github.com/nnsoc/nnsoc/hal/guarded"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Network is a compiled network.
type Network struct {
	File      []byte
	Operators []Operator
	CPU       []nn.OperationType // operations that stay on the CPU, in order of the model
	Reasons   []string           // why, of each
	Work      int64              // what Check computes: multiply-accumulates and elements

	model  *nn.Model
	config *soc.Config
}

// Operator is an ethos-u operator.
type Operator struct {
	Operations    int // of the model
	CommandBytes  int
	ConstantBytes int // weights, records, tables
	WeightBytes   int // of them, encoded weights
	ArenaBytes    int
	FastBytes     int
}

// Devices of a step of the partition.
const onCPU, onNPU = 0, 1

// Compile compiles a model for an accelerator, with its NPU and memories as a SoC has them.
func Compile(m *nn.Model, c *soc.Config, accelerator ethosu.Config) (*Network, error) {
	d, err := device(c, accelerator)
	if err != nil {
		return nil, err
	}
	resolved := *m
	main, err := opspec.Resolve(&m.Main)
	if err != nil {
		return nil, err
	}
	resolved.Main = *main
	steps, n, err := divide(d, &resolved)
	if err != nil {
		return nil, err
	}
	n.Work, n.model, n.config = work(&resolved), &resolved, c
	if err := n.write(d, &resolved, steps, accelerator); err != nil {
		return nil, err
	}
	if _, err := vela.Read(n.File); err != nil {
		return nil, fmt.Errorf("offline: the file that was written: %w", err)
	}
	return n, nil
}

// device is the NPU's driver of a SoC whose NPU is the accelerator.
func device(c *soc.Config, accelerator ethosu.Config) (_ *npudriver.Device, err error) {
	defer try.Catch(&err)
	spec := try.V(npu.FromSoC(c, sim.FastSingleAnswer))
	try.E((&npu.Compiled{Config: accelerator}).Check(&spec))
	list := try.V(devices.Open(c, hal.FastSingleAnswer))
	for _, d := range list {
		if d, ok := d.(*npudriver.Device); ok {
			return d, nil
		}
	}
	return nil, fmt.Errorf("offline: %s has no NPU", c.SoC.Name)
}

// step is consecutive operations on one device.
type step struct {
	device     int
	operations []int
	part       partition.Part // of the NPU
}

// divide cuts a model between CPU and NPU.
func divide(d hal.Device, m *nn.Model) ([]step, *Network, error) {
	support, err := guarded.SupportedOperations(d, m)
	if err != nil {
		return nil, nil, err
	}
	n := &Network{}
	on := make([]int, len(support))
	taken := false
	for i, s := range support {
		if s.OK {
			on[i], taken = onNPU, true
			continue
		}
		n.CPU, n.Reasons = append(n.CPU, m.Main.Operations[i].Type), append(n.Reasons, s.Reason)
	}
	if !taken {
		reason := "it has none"
		if len(n.Reasons) > 0 {
			reason = n.Reasons[0]
		}
		return nil, nil, fmt.Errorf("offline: no operation of the model runs on the NPU: %s", reason)
	}
	if len(m.States) > 0 {
		return nil, nil, errors.New("offline: models that keep states are not supported")
	}
	var steps []step
	for _, s := range partition.Steps(partition.NewGraph(&m.Main), on, onNPU+1) {
		x := step{device: s.Device, operations: s.Operations}
		if s.Device == onNPU {
			x.part = partition.Extract(m, s.Operations)
		}
		steps = append(steps, x)
	}
	return steps, n, nil
}
