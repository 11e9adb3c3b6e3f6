//go:build linux && cgo && libneuralnetworks

package main

// #include "table.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/nn"
)

// model is a model in the driver, with what it refers to.
type model struct {
	driver   *driver
	main     *C.ANeuralNetworksModel
	inner    []*C.ANeuralNetworksModel // of referenced subgraphs
	constant []unsafe.Pointer          // values that the driver may read until the model is freed
}

// add builds a model in the driver.
func (d *driver) add(m *nn.Model) (x *model, err error) {
	x = &model{driver: d, inner: make([]*C.ANeuralNetworksModel, len(m.Referenced))}
	defer func() {
		if err != nil {
			x.free()
		}
	}()
	x.main, err = x.subgraph(m, &m.Main)
	return x, err
}

// free frees the models, the outer one first.
func (x *model) free() {
	for _, m := range append([]*C.ANeuralNetworksModel{x.main}, x.inner...) {
		if m != nil {
			C.model_free(x.driver.table, m)
		}
	}
	for _, p := range x.constant {
		C.free(p)
	}
}

// subgraph builds one subgraph, and those that it refers to before. The caller has checked that none refers to itself.
func (x *model) subgraph(m *nn.Model, g *nn.Subgraph) (_ *C.ANeuralNetworksModel, err error) {
	t := x.driver.table
	var out *C.ANeuralNetworksModel
	if err := failure("Model_create", C.model_create(t, &out)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			C.model_free(t, out)
		}
	}()
	for i := range g.Operands {
		if err := x.operand(m, out, i, &g.Operands[i]); err != nil {
			return nil, fmt.Errorf("operand %d: %w", i, err)
		}
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		code := C.model_add_operation(t, out, C.int32_t(op.Type), C.uint32_t(len(op.Inputs)), numbers(op.Inputs), C.uint32_t(len(op.Outputs)), numbers(op.Outputs))
		if err := failure("Model_addOperation", code); err != nil {
			return nil, fmt.Errorf("operation %d (%s): %w", i, op.Type, err)
		}
	}
	if err := failure("Model_identifyInputsAndOutputs", C.model_identify(t, out, C.uint32_t(len(g.Inputs)), numbers(g.Inputs), C.uint32_t(len(g.Outputs)), numbers(g.Outputs))); err != nil {
		return nil, err
	}
	if m.Relaxed && g == &m.Main {
		if err := failure("Model_relaxComputationFloat32toFloat16", C.model_relax(t, out)); err != nil {
			return nil, err
		}
	}
	return out, failure("Model_finish", C.model_finish(t, out))
}

// operand adds an operand with its value.
func (x *model) operand(m *nn.Model, to *C.ANeuralNetworksModel, i int, o *nn.Operand) error {
	t := x.driver.table
	code := C.model_add_operand(t, to, C.int32_t(o.Type), C.uint32_t(len(o.Dimensions)), numbers(o.Dimensions), C.float(o.Scale), C.int32_t(o.ZeroPoint))
	if err := failure("Model_addOperand", code); err != nil {
		return err
	}
	if q := o.Channel; q != nil && len(q.Scales) > 0 {
		code := C.model_set_channels(t, to, C.int32_t(i), C.uint32_t(q.Dim), C.uint32_t(len(q.Scales)), (*C.float)(unsafe.Pointer(&q.Scales[0])))
		if err := failure("Model_setOperandSymmPerChannelQuantParams", code); err != nil {
			return err
		}
	}
	switch {
	case o.Lifetime == nn.NoValue:
		return failure("Model_setOperandValue", C.model_set_value(t, to, C.int32_t(i), nil, 0))
	case o.IsConst():
		p := C.CBytes(o.Data)
		x.constant = append(x.constant, p)
		return failure("Model_setOperandValue", C.model_set_value(t, to, C.int32_t(i), p, C.size_t(len(o.Data))))
	}
	k, refers := o.Subgraph()
	if !refers {
		return nil
	}
	if x.inner[k] == nil {
		inner, err := x.subgraph(m, &m.Referenced[k])
		if err != nil {
			return fmt.Errorf("subgraph %d: %w", k, err)
		}
		x.inner[k] = inner
	}
	return failure("Model_setOperandValueFromModel", C.model_set_model(t, to, C.int32_t(i), x.inner[k]))
}

// numbers is a list for C, which reads it during the call alone.
func numbers(list []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(list))) }

// Supports implements base.Compiler.
func (d *driver) Supports(m *nn.Model) ([]hal.Support, error) {
	s := make([]hal.Support, len(m.Main.Operations))
	x, err := d.add(m)
	if err != nil { // as a runtime takes it: nothing of the model is supported
		for i := range s {
			s[i].Reason = fmt.Sprintf("%s refuses the model: %v", d.name, err)
		}
		return s, nil
	}
	defer x.free()
	answers := make([]C.bool, len(s)+1)
	if err := failure("Model_getSupportedOperationsForDevices", C.model_supported(d.table, x.main, d.handle, &answers[0])); err != nil {
		return nil, err
	}
	for i := range s {
		if s[i].OK = bool(answers[i]); !s[i].OK {
			s[i].Reason = fmt.Sprintf("%s: the driver does not support it", d.name)
		}
	}
	return s, nil
}

// priorities are NNAPI's of the HAL's.
var priorities = map[hal.Priority]C.int{
	hal.PriorityLow: C.ANEURALNETWORKS_PRIORITY_LOW, hal.PriorityMedium: C.ANEURALNETWORKS_PRIORITY_MEDIUM, hal.PriorityHigh: C.ANEURALNETWORKS_PRIORITY_HIGH,
}

// Compile implements base.Compiler.
func (d *driver) Compile(m *nn.Model, o hal.PrepareOptions) (base.Program, error) {
	x, err := d.add(m)
	if err != nil {
		return nil, err
	}
	c, err := d.compilation(x, o)
	if err != nil {
		x.free()
		return nil, err
	}
	return newProgram(m, x, c), nil
}

// compilation compiles a model.
func (d *driver) compilation(x *model, o hal.PrepareOptions) (c *C.ANeuralNetworksCompilation, err error) {
	if err := failure("Compilation_createForDevices", C.compilation_create(d.table, x.main, d.handle, &c)); err != nil {
		return nil, err
	}
	if err = failure("Compilation_setPreference", C.compilation_set(d.table, c, C.int32_t(o.Preference), priorities[o.Priority])); err == nil {
		err = failure("Compilation_finish", C.compilation_finish(d.table, c))
	}
	if err != nil {
		C.compilation_free(d.table, c)
		return nil, err
	}
	return c, nil
}
