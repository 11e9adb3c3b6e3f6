package dsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/sim"
)

// Config is the device behind the driver.
type Config struct {
	Spec dsp.Spec
	// Launch is the fixed cost of an execution outside the device.
	Launch       sim.Time
	Capabilities hal.Capabilities
	Description  string
}

// Device is the DSP as the runtime sees it.
type Device struct {
	*base.Device
	cfg     Config
	core    *dsp.Core
	kernels kernelCache
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := dsp.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg, core: c}
	d.Device = base.New(base.Config{
		Name: "dsp", Description: cfg.Description, Version: "1.0-" + cfg.Spec.Name, Type: hal.DeviceAccelerator, Capabilities: cfg.Capabilities,
	}, compiler{d})
	return d, nil
}

// threads is how many hardware threads kernels use: all of them use vectors.
func (d *Device) threads() int { return max(1, min(d.cfg.Spec.Threads, d.cfg.Spec.Contexts)) }

// compiler lowers models for a device.
type compiler struct{ *Device }

// Supports implements base.Compiler: an operation is supported when it lowers,
// wherever its inputs come from.
func (c compiler) Supports(m *nn.Model) ([]hal.Support, error) {
	g, err := opspec.Resolve(&m.Main)
	if err != nil { // operations that contradict the model decline by themselves
		same := m.Main
		same.Operands = slices.Clone(same.Operands)
		g = &same
	}
	l := &lowering{graph: g, view: opspec.ModelView(g), threads: c.threads(), image: newImage(codeBase, c.cfg.Spec.IssueInterval)}
	answers := make([]hal.Support, len(g.Operations))
	for i := range g.Operations {
		if err := l.supports(i); err != nil {
			answers[i].Reason = err.Error()
			continue
		}
		answers[i].OK = true
	}
	pairQuantize(g, answers)
	return answers, nil
}

// supports lowers one operation by itself.
func (l *lowering) supports(i int) error {
	op := &l.graph.Operations[i]
	if !op.Type.Valid() || lowerings[op.Type] == nil {
		return fmt.Errorf("%s has no lowering on this DSP", op.Type)
	}
	if err := checkTypes(l.graph, op); err != nil {
		return about(op, err)
	}
	if late, err := isLate(l.graph, op); late || err != nil {
		return about(op, err)
	}
	l.op, l.steps, l.tensors, l.consts = i, nil, nil, nil
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
	return about(op, lowerings[op.Type](l, op))
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
func checkTypes(g *nn.Subgraph, op *nn.Operation) error {
	for _, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, x := range list {
			if uint64(x) >= uint64(len(g.Operands)) {
				return fmt.Errorf("operand %d of %d does not exist", x, len(g.Operands))
			}
		}
	}
	a, err := opspec.ModelView(g).Bind(op)
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
func pairs(g *nn.Subgraph, op *nn.Operation) error {
	if op.Type == nn.OpDequantize {
		return onlyRequantizes(g, op)
	}
	if _, ok := dequantized(g, op); !ok {
		return fmt.Errorf("input 0 is %s, of a value that is not only dequantized", g.Operands[op.Inputs[0]].Type)
	}
	return nil
}

// pairQuantize withdraws a DEQUANTIZE whose QUANTIZE is not supported: the two
// are one table.
func pairQuantize(g *nn.Subgraph, answers []hal.Support) {
	for i := range answers {
		op := &g.Operations[i]
		if op.Type != nn.OpDequantize || !answers[i].OK {
			continue
		}
		for j := range answers {
			if user := &g.Operations[j]; user.Type == nn.OpQuantize && user.Inputs[0] == op.Outputs[0] && !answers[j].OK {
				answers[i] = hal.Support{Reason: "its QUANTIZE is not supported: " + answers[j].Reason}
			}
		}
	}
}

// Compile implements base.Compiler.
func (c compiler) Compile(m *nn.Model, _ hal.PrepareOptions) (base.Program, error) {
	for i := range m.Main.Operations {
		if err := checkTypes(&m.Main, &m.Main.Operations[i]); err != nil {
			return nil, fmt.Errorf("operation %d: %s: %w", i, m.Main.Operations[i].Type, err)
		}
	}
	return prepare(c.Device, m)
}
