package dsp

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec dsp.Spec
	// SpecAt is the machine at another operating point; nil: there is none.
	SpecAt func(sim.OPP) (dsp.Spec, error)
	// NewMemory makes what the device's L2 reads from, cold; nil allows only
	// functional executions.
	NewMemory func() (mem.Level, error)
	// Host is what lies between clients and the device.
	Host         base.Host
	Clock        *hal.Clock // of the machine; nil is one of its own
	Capabilities hal.Capabilities
	Description  string
}

// Device is the DSP as the runtime sees it.
type Device struct {
	*base.Device
	cfg     Config
	core    *dsp.Core
	cores   base.Cores[dsp.Core] // at other points
	kernels hvx.Cache
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := dsp.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg, core: c}
	d.cores.New = func(o sim.OPP) (*dsp.Core, error) {
		if cfg.SpecAt == nil {
			return nil, fmt.Errorf("one operating point only, not %d Hz", o.Hz)
		}
		s, err := cfg.SpecAt(o)
		if err != nil {
			return nil, err
		}
		return dsp.New(s)
	}
	d.Device = base.New(base.Config{
		Name: "dsp", Description: cfg.Description, Version: "1.0-" + cfg.Spec.Name, Type: hal.DeviceAccelerator, Capabilities: cfg.Capabilities, Host: cfg.Host, Clock: cfg.Clock,
		Identity: fmt.Sprintf("%+v", cfg.Spec), Extensions: []hal.Extension{{Name: nn.ExtensionName}},
	}, base.NewCompiler(middleEnd{d}))
	return d, nil
}

// threads is how many hardware threads kernels use: all of them use vectors.
func (d *Device) threads() int { return max(1, min(d.cfg.Spec.Threads, d.cfg.Spec.Contexts)) }

// machine is what the code of kernels depends on.
func (d *Device) machine() hvx.Machine {
	s := &d.cfg.Spec
	return hvx.Machine{IssueInterval: s.IssueInterval, DMA: newVTCM(s).dma}
}

// middleEnd lowers canonical graphs for a device.
type middleEnd struct{ *Device }

// passes make a model canonical for the DSP, which takes images in either order and
// padding in either form.
var passes = graph.NewPipeline(graph.ResolveShapes)

// Passes implements base.Lowering.
func (middleEnd) Passes() graph.Pipeline { return passes }

// Check implements base.Lowering.
func (d middleEnd) Check(g *graph.Graph) base.Checker {
	return checker{&lowering{object: newObject(d.threads(), d.machine(), &hvx.Cache{}), graph: g, view: g.View()}}
}

// Lower implements base.Lowering.
func (d middleEnd) Lower(g *graph.Graph, _ hal.PrepareOptions) (base.Executable, error) {
	return newPlan(d.Device, g)
}

// checker implements base.Checker: an operation is supported when it lowers.
type checker struct{ l *lowering }

// Types implements base.Checker.
func (c checker) Types(i int) error {
	op := &c.l.graph.Operations[i]
	if lowerings[op.Type] == nil {
		return fmt.Errorf("%s has no lowering on this DSP", op.Type)
	}
	if err := checkTypes(c.l.graph, op); err != nil {
		return about(op, err)
	}
	if shift := c.l.view.OutputShift(op); shift > maxOutputShift {
		return fmt.Errorf("%s: sums are shifted left by %d for the output scale, at most %d on this DSP", op.Type, shift, maxOutputShift)
	}
	return nil
}

// maxOutputShift bounds the left shift of 32-bit sums by a multiplier above 1: vector
// shifts take their count modulo 32.
const maxOutputShift = 30

// Defers implements base.Checker: every lowering takes all parameters.
func (checker) Defers(int) error { return nil }

// Lowers implements base.Checker: it lowers one operation by itself. A DEQUANTIZE and
// its QUANTIZE are one table.
func (c checker) Lowers(i int) error {
	op := &c.l.graph.Operations[i]
	if err := c.l.alone(i); err != nil {
		return about(op, err)
	}
	if op.Type != nn.OpDequantize {
		return nil
	}
	for j := range c.l.graph.Operations {
		if user := &c.l.graph.Operations[j]; user.Type == nn.OpQuantize && user.Inputs[0] == op.Outputs[0] {
			if err := c.l.alone(j); err != nil {
				return fmt.Errorf("its QUANTIZE is not supported: %w", err)
			}
		}
	}
	return nil
}

// alone lowers operation i with inputs from nowhere.
func (l *lowering) alone(i int) error {
	op := &l.graph.Operations[i]
	l.op, l.list, l.consts = l.graph.Origin[i], lowered{}, nil
	l.forget()
	for _, x := range op.Inputs {
		if o := &l.graph.Operands[x]; carried(o.Type) && o.Known() && o.Lifetime != nn.NoValue && !o.IsConst() {
			if o.Type.IsQuant8() {
				l.values[x] = l.newTensor("", shapeOf(o.Dimensions), 0, zeroOf(o))
				continue
			}
			l.clients[x] = l.denseTensor(x)
		}
	}
	if from, ok := dequantized(l.graph, op); ok && op.Type == nn.OpQuantize {
		o := &l.graph.Operands[from]
		l.values[from] = l.newTensor("", shapeOf(o.Dimensions), 0, zeroOf(o))
	}
	return lowerings[op.Type](l, op)
}

// about prefixes an error with the name of the operation unless it has it.
func about(op *nn.Operation, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), op.Type.String()+":") {
		return err
	}
	return fmt.Errorf("%s: %w", op.Type, err)
}

// checkTypes rejects what this device cannot compute on before shapes and
// values are looked at.
func checkTypes(g *graph.Graph, op *nn.Operation) error {
	a, err := g.View().Bind(op)
	if err != nil {
		return err
	}
	if whole := a.Key == nn.TensorInt32 || a.Key == nn.TensorBool8; whole && !integers[op.Type] {
		return fmt.Errorf("%s has no lowering on this DSP", a.Key)
	}
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for i, x := range list {
			o := &g.Operands[x]
			if o.Type == nn.TensorFloat32 && floatEdge(op.Type, k) {
				continue
			}
			if o.Type.IsScalar() || storable(o.Type) || k != 1 && o.Lifetime == nn.NoValue {
				continue
			}
			if op.Type == nn.OpQuantize && k == 0 || op.Type == nn.OpDequantize && k == 1 {
				if err := pairs(g, op); err != nil {
					return err
				}
				continue // the two are one table
			}
			return fmt.Errorf("%s %d is %s: this device computes on integers", [2]string{"input", "output"}[k], i, o.Type)
		}
	}
	return nil
}

// pairs reports why an operation is not half of such a table.
func pairs(g *graph.Graph, op *nn.Operation) error {
	if op.Type == nn.OpDequantize {
		return onlyRequantizes(g, op)
	}
	if _, ok := dequantized(g, op); !ok {
		return fmt.Errorf("input 0 is %s, of a value that is not only dequantized", g.Operands[op.Inputs[0]].Type)
	}
	return nil
}
