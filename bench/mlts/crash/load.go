package crash

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// load is a network under stress.
type load struct {
	model    *nn.Model
	device   string
	inputs   [][]byte
	expected []compare.Tensor // of the reference

	mu    sync.Mutex
	first [][]byte // outputs of the first inference
}

// candidates are networks; the stress of a device consists of those that it supports whole.
var candidates = []string{"mobilenet_v1_0.25_128_quant", "mobilenet_v1_0.25_128_float", "mobilenet_v2_0.35_96_quant", "mobilenet_v2_0.35_96_float"}

// SmallFloat and SmallQuant are networks of a few operations, for liveness checks and
// short tests.
const (
	SmallFloat = "small_float"
	SmallQuant = "small_quant"
)

// small builds a small network.
func small(format builder.Format, name string) (*nn.Model, error) {
	b := builder.New(builder.Config{Format: format})
	x := b.Image(8)
	x = b.Conv(x, builder.Conv{Out: 8, Kernel: 3, Act: builder.ReLU})
	b.Output(b.Softmax(b.Dense(b.GlobalPool(x), 8, builder.Logits)), "y")
	return b.Model(name)
}

// modelOf builds a network by name.
func modelOf(name string) (*nn.Model, error) {
	switch name {
	case SmallFloat:
		return small(builder.Float32, name)
	case SmallQuant:
		return small(builder.Quant8, name)
	}
	return zoo.Build(name)
}

// newLoad makes a load of a model for the device of a registry; nil, when that does not support it whole.
func newLoad(r *registry.Registry, m *nn.Model) (*load, error) {
	d := r.Devices()[1]
	support, err := guarded.SupportedOperations(d, m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if slices.ContainsFunc(support, func(s hal.Support) bool { return !s.OK }) {
		return nil, nil
	}
	l := &load{model: m, device: d.Name()}
	for i := range m.Main.Inputs {
		l.inputs = append(l.inputs, tensor.SyntheticInput(&m.Main, i, uint32(7+i)))
	}
	return l, nil
}

// expect computes the reference's outputs.
func (l *load) expect(r *registry.Registry) error {
	c, err := nnrt.Compile(r, l.model, r.CPU().Name(), nnrt.CompileOptions{})
	if err != nil {
		return err
	}
	res, err := c.Execute(l.inputs, nnrt.ExecuteOptions{Functional: true})
	if err == nil {
		l.expected = res.Tensors(l.model)
	}
	return err
}

// loadsOf are the loads of a request: at least one.
func loadsOf(r *registry.Registry, q *Request) (list []*load, err error) {
	names := q.Models
	if len(names) == 0 {
		names = candidates
	}
	for _, name := range names {
		m, err := modelOf(name)
		if err != nil {
			return nil, err
		}
		l, err := newLoad(r, m)
		if err == nil && l != nil {
			err = l.expect(r)
		}
		if err != nil {
			return nil, err
		}
		if l != nil {
			list = append(list, l)
		}
	}
	if len(list) == 0 && len(q.Models) == 0 { // a driver of few operations
		l, err := smallLoad(r)
		if err != nil {
			return nil, err
		}
		return []*load{l}, l.expect(r)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s supports none of %s whole", q.Device, strings.Join(names, ", "))
	}
	return list, nil
}

// smallLoad is a small network that the device of a registry supports whole.
func smallLoad(r *registry.Registry) (*load, error) {
	for _, name := range []string{SmallQuant, SmallFloat} {
		m, err := modelOf(name)
		if err != nil {
			return nil, err
		}
		if l, err := newLoad(r, m); err != nil || l != nil {
			return l, err
		}
	}
	l, err := addition(r)
	if err == nil && l == nil {
		err = errors.New("the device supports no network to test it with, not even an ADD of floats")
	}
	return l, err
}

// addition is an ADD of floats, which the smallest driver supports.
func addition(r *registry.Registry) (*load, error) {
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2, 8}}), "x")
	b.Output(b.Add(x, x, builder.NoActivation), "y")
	m, err := b.Model("addition")
	if err != nil {
		return nil, err
	}
	return newLoad(r, m)
}

// compile compiles a load for its device, which must run it without the CPU's help.
func (l *load) compile(r *registry.Registry) (*nnrt.Compilation, error) {
	return nnrt.Compile(r, l.model, l.device, nnrt.CompileOptions{Partitioning: nnrt.WithoutFallback})
}

// infer runs a compilation once and compares the outputs.
func (l *load) infer(c *nnrt.Compilation, functional bool) (*nnrt.Result, error) {
	r, err := c.Execute(l.inputs, nnrt.ExecuteOptions{Functional: functional})
	if err != nil {
		return nil, err
	}
	return r, l.compare(r.Outputs, r)
}
