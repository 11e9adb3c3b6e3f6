//go:build linux && cgo && libneuralnetworks

package main

/*
#cgo CFLAGS: -I${SRCDIR}
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "support.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// Functions of the support library interface that NNAPI does not have. support.c has its table.

// SL_ANeuralNetworksCompilation_setCachingFromFds has no files to set: getNumberOfCacheFilesNeeded says that there are none.
//
//export SL_ANeuralNetworksCompilation_setCachingFromFds
func SL_ANeuralNetworksCompilation_setCachingFromFds(c C.uintptr_t, modelFds *C.int, models C.uint32_t, dataFds *C.int, data C.uint32_t, token *C.uint8_t) C.int {
	return call("SL Compilation_setCachingFromFds", func() error {
		of[nnapi.Compilation](c)
		need(token)
		if models > 0 || data > 0 {
			return bad(nnapi.BadData, "%d and %d files at %p and %p, want none of either kind", models, data, modelFds, dataFds)
		}
		return nil
	})
}

//export SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded
func SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(d C.uintptr_t, models, data *C.uint32_t) C.int {
	return call("SL Device_getNumberOfCacheFilesNeeded", func() error {
		of[device](d)
		*need(models), *need(data) = 0, 0
		return nil
	})
}

// performance is SL_ANeuralNetworksPerformanceInfo.
type performance struct{ execTime, powerUsage C.float }

//export SL_ANeuralNetworksDevice_getPerformanceInfo
func SL_ANeuralNetworksDevice_getPerformanceInfo(d C.uintptr_t, kind C.int32_t, out unsafe.Pointer) C.int {
	return call("SL Device_getPerformanceInfo", func() error {
		c, to := of[device](d).Capabilities(), need((*performance)(out))
		all := []hal.PerformanceInfo{c.RelaxedScalar, c.RelaxedTensor, c.If, c.While}
		if kind < 0 || int(kind) >= len(all) {
			return bad(nnapi.BadData, "kind %d, want 0 to %d", kind, len(all)-1)
		}
		*to = performance{C.float(all[kind].ExecTime), C.float(all[kind].PowerUsage)}
		return nil
	})
}

//export SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo
func SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d C.uintptr_t, context, callback unsafe.Pointer) C.int {
	return call("SL Device_forEachOperandPerformanceInfo", func() error {
		for _, p := range of[device](d).Capabilities().OperandPerformance() {
			C.nnsoc_visit_performance(pointer(callback), context, C.int32_t(p.Type), C.float(p.Info.ExecTime), C.float(p.Info.PowerUsage))
		}
		return nil
	})
}

// pointer is a pointer that must not be null.
func pointer(p unsafe.Pointer) unsafe.Pointer {
	need((*byte)(p))
	return p
}

//export SL_ANeuralNetworksDevice_getVendorExtensionCount
func SL_ANeuralNetworksDevice_getVendorExtensionCount(d C.uintptr_t, out *C.uint32_t) C.int {
	return call("SL Device_getVendorExtensionCount", func() error {
		*need(out) = C.uint32_t(len(of[device](d).extensions()))
		return nil
	})
}

// extension is an extension of a device with its name for the app.
type extension struct {
	name  *C.char
	types []nn.ExtensionOperandType
}

// extensionNames are the names that apps hold, which stay.
var extensionNames sync.Map // of strings to *C.char

// extensions lists the extensions of a device.
func (d *device) extensions() (list []extension) {
	for _, e := range d.Extensions() {
		name, known := extensionNames.Load(e.Name)
		if !known {
			name, _ = extensionNames.LoadOrStore(e.Name, lasting(e.Name))
		}
		list = append(list, extension{name.(*C.char), e.OperandTypes})
	}
	return list
}

// extensionAt is the extension of a number.
func extensionAt(d C.uintptr_t, i C.uint32_t) (extension, error) {
	list := of[device](d).extensions()
	if int64(i) >= int64(len(list)) {
		return extension{}, bad(nnapi.BadData, "extension %d of %d", i, len(list))
	}
	return list[i], nil
}

//export SL_ANeuralNetworksDevice_getVendorExtensionName
func SL_ANeuralNetworksDevice_getVendorExtensionName(d C.uintptr_t, i C.uint32_t, out **C.char) C.int {
	return call("SL Device_getVendorExtensionName", func() error {
		e, err := extensionAt(d, i)
		*need(out) = e.name
		return err
	})
}

//export SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation
func SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d C.uintptr_t, i C.uint32_t, context, callback unsafe.Pointer) C.int {
	return call("SL Device_forEachVendorExtensionOperandTypeInformation", func() error {
		e, err := extensionAt(d, i)
		for _, t := range e.types {
			C.nnsoc_visit_extension(pointer(callback), context, C.uint16_t(t.Type), C.bool(t.IsTensor), C.uint32_t(t.ByteSize))
		}
		return err
	})
}

// callbacks are the functions of the app that learn what has ended. They are part of the phone's diagnostics from the beginning.
type callbacks struct {
	mu                 sync.Mutex
	compiled, executed unsafe.Pointer // functions; nil: none
	context            unsafe.Pointer
}

//export SL_ANeuralNetworksDiagnostic_registerCallbacks
func SL_ANeuralNetworksDiagnostic_registerCallbacks(compiled, executed, context unsafe.Pointer) {
	call("SL Diagnostic_registerCallbacks", func() error {
		p, err := thePhone()
		if err != nil {
			return err
		}
		p.callbacks.mu.Lock()
		defer p.callbacks.mu.Unlock()
		p.callbacks.compiled, p.callbacks.executed, p.callbacks.context = compiled, executed, context
		return nil
	})
}

// get returns the functions and their context.
func (c *callbacks) get() (compiled, executed, context unsafe.Pointer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiled, c.executed, c.context
}

// report calls a function of the app with what a compilation or an execution is in common, and more.
func report(callback, context unsafe.Pointer, s *nnapi.SessionInfo, code nnapi.ResultCode, more func(*C.struct_nnsoc_diagnostic)) {
	var pins runtime.Pinner
	defer pins.Unpin()
	hash := s.Model
	pins.Pin(&hash[0])
	devices := C.CString(s.Devices)
	defer C.free(unsafe.Pointer(devices))
	d := C.struct_nnsoc_diagnostic{
		session: C.int32_t(s.Compilation), level: nnapi.RuntimeFeatureLevel, model: (*C.uint8_t)(unsafe.Pointer(&hash[0])), devices: devices, error: C.int32_t(code),
		caching: C.bool(s.Cache), control_flow: C.bool(s.HasControlFlow), dynamic: C.bool(s.HasDynamicTemporaries),
	}
	more(&d)
	C.nnsoc_report(callback, context, &d)
}

// Compiled implements nnapi.Diagnostics.
func (c *callbacks) Compiled(x nnapi.CompilationInfo) {
	callback, _, context := c.get()
	if callback == nil {
		return
	}
	report(callback, context, &x.SessionInfo, x.Result, func(d *C.struct_nnsoc_diagnostic) {
		d.compilation_ns = C.uint64_t(x.Duration.Nanoseconds())
		d.input, d.output = C.int32_t(x.Input), C.int32_t(x.Output)
	})
}

// Executed implements nnapi.Diagnostics.
func (c *callbacks) Executed(x nnapi.ExecutionInfo) {
	_, callback, context := c.get()
	if callback == nil {
		return
	}
	report(callback, context, &x.SessionInfo, x.Result, func(d *C.struct_nnsoc_diagnostic) {
		d.mode = C.int32_t(x.Mode) + 1 // the interface counts from 1
		d.input, d.output = C.int32_t(x.Input), C.int32_t(x.Output)
		d.runtime_ns, d.driver_ns, d.hardware_ns = C.uint64_t(x.Runtime), C.uint64_t(x.Driver), C.uint64_t(x.Hardware)
	})
}

// diagnostics are the app's callbacks, and the record where there is one.
type diagnostics struct {
	*callbacks
	recorder nnapi.Observer // nil: none
}

// Compiled implements nnapi.Diagnostics.
func (d *diagnostics) Compiled(x nnapi.CompilationInfo) {
	if d.recorder != nil {
		d.recorder.Compiled(x)
	}
	d.callbacks.Compiled(x)
}

// Executed implements nnapi.Diagnostics.
func (d *diagnostics) Executed(x nnapi.ExecutionInfo) {
	if d.recorder != nil {
		d.recorder.Executed(x)
	}
	d.callbacks.Executed(x)
}

// Observe implements nnapi.Observer.
func (d *diagnostics) Observe(s nnapi.SessionInfo) nnapi.Observation {
	if d.recorder == nil {
		return nil
	}
	return d.recorder.Observe(s)
}
