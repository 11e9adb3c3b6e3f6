package randgraph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/refcpu"
)

// Kind is the kind of a case's failure.
type Kind uint8

// Kinds of failures.
const (
	Mismatch    Kind = iota // a result violates its criterion
	Shape                   // a result has the wrong shape
	DeviceError             // the device accepts the operations but does not run the model
	Panic                   // the device panics
	Invalid                 // the model or the reference is at fault
)

var kindNames = [...]string{"mismatch", "shape", "device error", "panic", "invalid"}

// String returns the kind in words.
func (k Kind) String() string { return kindNames[k] }

// failed is a failure and its kind.
type failed struct {
	kind Kind
	err  error
}

func (f *failed) Error() string { return f.kind.String() + ": " + f.err.Error() }
func (f *failed) Unwrap() error { return f.err }

func fail(k Kind, format string, args ...any) error {
	return &failed{k, fmt.Errorf(format, args...)}
}

// kindOf is the kind of an error of judge.
func kindOf(err error) Kind {
	var f *failed
	if errors.As(err, &f) {
		return f.kind
	}
	return DeviceError
}

// table is the table that the case was drawn from.
func (c *Case) table() *Table {
	if c.recipe.table == nil {
		return Standard()
	}
	return c.recipe.table
}

// reference runs a case on the reference CPU.
func reference(c *Case) (out []refcpu.Tensor, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fail(Invalid, "reference: panic: %v", v)
		}
	}()
	if err := validate.ModelOf(c.table().operations.Spec(), c.Model); err != nil {
		return nil, fail(Invalid, "model: %w", err)
	}
	p, err := refcpu.CompileConfig(c.Model, refcpu.Config{Operations: c.table().operations})
	if err != nil {
		return nil, fail(Invalid, "reference: %w", err)
	}
	in := make([]refcpu.Tensor, len(c.Inputs))
	for i := range c.Model.Main.Inputs {
		in[i] = refcpu.Tensor{Dimensions: c.dimensions(i), Data: c.Inputs[i]}
	}
	out, err = p.Execute(in, refcpu.Options{Threads: 1})
	if err != nil {
		return nil, fail(Invalid, "reference: %w", err)
	}
	return out, nil
}

// dimensions is the shape of an input.
func (c *Case) dimensions(i int) []uint32 {
	if c.Dimensions == nil {
		return c.Model.Main.Operands[c.Model.Main.Inputs[i]].Dimensions
	}
	return c.Dimensions[i]
}

// complete is a copy of the model with the shapes of its inputs.
func (c *Case) complete() *nn.Model {
	m := *c.Model
	m.Main.Operands = slices.Clone(m.Main.Operands)
	for i, x := range m.Main.Inputs {
		m.Main.Operands[x].Dimensions = c.dimensions(i)
	}
	return &m
}

// supports reports whether a device accepts every operation of a model.
func supports(d hal.Device, m *nn.Model) (ok bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			ok, err = true, fail(Panic, "supported operations: %v", v)
		}
	}()
	answers, err := d.SupportedOperations(m)
	if err != nil {
		return true, fail(DeviceError, "supported operations: %w", err)
	}
	for _, a := range answers {
		if !a.OK {
			return false, nil
		}
	}
	return true, nil
}

// judge runs a case on a device and on the reference. supported is false when
// the device declines an operation; then nothing ran.
func judge(d hal.Device, c *Case, o Options) (supported bool, err error) {
	want, err := reference(c)
	if err != nil {
		return true, err
	}
	if ok, err := supports(d, c.Model); !ok || err != nil {
		return ok, err
	}
	if c.Dimensions != nil { // of open shapes a device judges an example; it may decline an execution with others
		if ok, err := supports(d, c.complete()); !ok || err != nil {
			return ok, err
		}
	}
	got, result, err := execute(d, c, want, o.Functional)
	if err != nil {
		return true, err
	}
	if o.Float {
		if want, err = golden(c, want); err != nil {
			return true, err
		}
	}
	if err := differs(c, want, got, result.OutputDimensions, rule(c.Class, o.Exact, o.Float)); err != nil {
		kind := Mismatch
		var d *compare.Difference
		if errors.As(err, &d) && d.Kind == compare.WrongShape {
			kind = Shape
		}
		return true, &failed{kind, err}
	}
	return true, nil
}

// differs compares results of a case with the expected ones. dims is their shapes as the device reports them.
func differs(c *Case, want []refcpu.Tensor, got [][]byte, dims [][]uint32, r compare.Rule) error {
	expected, actual := make([]compare.Tensor, len(want)), make([]compare.Tensor, len(got))
	undefined := scratch(&c.Model.Main)
	for i, x := range c.Model.Main.Outputs {
		o := &c.Model.Main.Operands[x]
		expected[i] = compare.Tensor{Type: o.Type, Dimensions: want[i].Dimensions, Data: want[i].Data}
		if o.Type.IsScalar() {
			expected[i].Dimensions = nil
		}
		if i < len(actual) {
			actual[i] = compare.Tensor{Type: o.Type, Data: got[i]}
			if i < len(dims) {
				actual[i].Dimensions = dims[i]
			}
			if undefined[i] && len(actual[i].Data) == len(expected[i].Data) {
				actual[i].Data = expected[i].Data
			}
		}
	}
	return compare.Err(compare.Outputs(expected, actual, r))
}

// execute runs a case on a device.
func execute(d hal.Device, c *Case, want []refcpu.Tensor, functional bool) (out [][]byte, res *hal.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fail(Panic, "%v", v)
		}
	}()
	p, err := d.PrepareModel(c.Model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	if err != nil {
		return nil, nil, fail(DeviceError, "prepare: %w", err)
	}
	r := &hal.Buffers{Inputs: c.Inputs, InputDimensions: c.Dimensions, ExecuteOptions: hal.ExecuteOptions{Functional: functional}}
	for i := range want {
		r.Outputs = append(r.Outputs, make([]byte, len(want[i].Data)))
	}
	res, err = hal.Execute(p, r)
	if err != nil {
		return nil, nil, fail(DeviceError, "execute: %w", err)
	}
	return r.Outputs, res, nil
}
