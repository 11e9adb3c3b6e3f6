//go:build linux && cgo && libneuralnetworks

package main

// #include "table.h"
import "C"

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"unsafe"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/nn"
)

// program is a compilation of the driver. It implements base.Program.
type program struct {
	model       *nn.Model
	driver      *driver
	compilation *C.ANeuralNetworksCompilation
}

// newProgram returns a program that frees its compilation and model when nothing refers to it any more.
func newProgram(m *nn.Model, x *model, c *C.ANeuralNetworksCompilation) *program {
	p := &program{m, x.driver, c}
	runtime.AddCleanup(p, func(x *model) {
		C.compilation_free(x.driver.table, c)
		x.free()
	}, x)
	return p
}

// Execute implements base.Program: one execution object of the driver.
func (p *program) Execute(b *hal.Buffers, _ base.Place) (*hal.Result, error) {
	defer runtime.KeepAlive(p)
	t := p.driver.table
	var e *C.ANeuralNetworksExecution
	if err := failure("Execution_create", C.execution_create(t, p.compilation, &e)); err != nil {
		return nil, err
	}
	defer C.execution_free(t, e)
	var pins runtime.Pinner // until the execution is freed
	defer pins.Unpin()
	for i, data := range b.Inputs {
		if err := failure(fmt.Sprintf("Execution_setInput %d", i), C.execution_set_input(t, e, C.int32_t(i), address(&pins, data), C.size_t(len(data)))); err != nil {
			return nil, err
		}
	}
	for i, data := range b.Outputs {
		if err := failure(fmt.Sprintf("Execution_setOutput %d", i), C.execution_set_output(t, e, C.int32_t(i), address(&pins, data), C.size_t(len(data)))); err != nil {
			return nil, err
		}
	}
	measured := !b.Functional && C.execution_measure(t, e) == C.ANEURALNETWORKS_NO_ERROR
	if err := failure("Execution_setLoopTimeout", C.execution_loop_timeout(t, e, C.uint64_t(b.LoopLimit()))); err != nil {
		return nil, err
	}
	err := failure("Execution_compute", C.execution_compute(t, e))
	if err != nil && hal.StatusOf(err) != hal.OutputInsufficientSize {
		return nil, err
	}
	res, failed := p.shapes(e)
	if failed != nil {
		return nil, failed
	}
	if err == nil && measured {
		p.measure(e, res)
	}
	return res, err
}

// address returns where memory lies until its pins are released; nil for none.
func address(pins *runtime.Pinner, data []byte) unsafe.Pointer {
	if len(data) == 0 {
		return nil
	}
	pins.Pin(&data[0])
	return unsafe.Pointer(&data[0])
}

// maxRank bounds the shapes that a driver may report.
const maxRank = 64

// shapes asks for the shapes of the outputs.
func (p *program) shapes(e *C.ANeuralNetworksExecution) (*hal.Result, error) {
	r := &hal.Result{Timing: hal.NoTiming}
	for i, x := range p.model.Main.Outputs {
		if o := &p.model.Main.Operands[x]; o.Type.IsScalar() {
			r.OutputDimensions = append(r.OutputDimensions, nil)
			continue
		}
		var rank C.uint32_t
		if err := shapeFailure("Execution_getOutputOperandRank", C.execution_rank(p.driver.table, e, C.int32_t(i), &rank)); err != nil {
			return nil, err
		}
		if rank > maxRank {
			return nil, hal.Errorf(hal.GeneralFailure, "output %d: rank %d of the driver, at most %d", i, rank, maxRank)
		}
		dims := make([]uint32, rank, rank+1)
		if rank > 0 {
			if err := shapeFailure("Execution_getOutputOperandDimensions", C.execution_dimensions(p.driver.table, e, C.int32_t(i), numbers(dims))); err != nil {
				return nil, err
			}
		}
		r.OutputDimensions = append(r.OutputDimensions, dims)
	}
	return r, nil
}

// shapeFailure is failure for a shape, which an output that is too small has as well.
func shapeFailure(call string, code C.int) error {
	if code == C.ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE {
		return nil
	}
	return failure(call, code)
}

// measure takes the time that the driver reports for its hardware; without one there are no costs.
func (p *program) measure(e *C.ANeuralNetworksExecution, r *hal.Result) {
	var ns C.uint64_t
	if C.execution_duration(p.driver.table, e, &ns) != C.ANEURALNETWORKS_NO_ERROR || ns == math.MaxUint64 || ns > hal.MaxLatencyFs/1e6 {
		return
	}
	fs := int64(ns) * 1e6
	r.Stats = hal.Stats{LatencyFs: fs, Operations: []hal.OperationStats{{Index: hal.LaunchIndex, TimeFs: fs}}}
}

// WriteListing implements base.Program.
func (p *program) WriteListing(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s keeps its program to itself; %d operations\n", p.driver.name, len(p.model.Main.Operations))
	return err
}

// WriteProgram implements base.Program. The interface has no way to get a program out of a driver.
func (p *program) WriteProgram(io.Writer) error {
	return hal.Errorf(hal.InvalidArgument, "%s: programs of a driver in C stay in it", p.driver.name)
}
