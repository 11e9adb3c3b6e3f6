//go:build linux && cgo && libneuralnetworks

package main

/*
#cgo CFLAGS: -I${SRCDIR}/../include
#cgo LDFLAGS: -ldl
#include "table.h"
*/
import "C"

import (
	"fmt"
	"path/filepath"
	"unsafe"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/nn"
)

// driver is a device of a library.
type driver struct {
	table  C.Table
	handle *C.ANeuralNetworksDevice
	name   string
}

// maxDevices bounds the devices of a library.
const maxDevices = 16

// load opens a library and returns its devices, without the reference on the CPU that a runtime has beside its drivers.
func load(path string) (list []hal.Device, err error) {
	absolute, err := filepath.Abs(path) // dlopen looks for a name without a folder elsewhere
	if err != nil {
		return nil, err
	}
	name := C.CString(absolute)
	defer C.free(unsafe.Pointer(name))
	var reason *C.char
	t := C.driver_open(name, &reason)
	if t == nil {
		return nil, fmt.Errorf("%s: %s", path, C.GoString(reason))
	}
	if missing := C.driver_missing(t); missing != nil {
		return nil, fmt.Errorf("%s: its table has no %s", path, C.GoString(missing))
	}
	var n C.uint32_t
	if err := failure("getDeviceCount", C.get_device_count(t, &n)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if n == 0 || n > maxDevices {
		return nil, fmt.Errorf("%s: %d devices, want 1 to %d", path, n, maxDevices)
	}
	for i := range n {
		d, err := open(t, i)
		if err != nil {
			return nil, fmt.Errorf("%s: device %d: %w", path, i, err)
		}
		if d.Type() != hal.DeviceCPU || n == 1 {
			list = append(list, d)
		}
	}
	return list, nil
}

// open asks a device for what it is.
func open(t C.Table, i C.uint32_t) (hal.Device, error) {
	d := &driver{table: t}
	if err := failure("getDevice", C.get_device(t, i, &d.handle)); err != nil {
		return nil, err
	}
	var name, version *C.char
	var kind C.int32_t
	for _, x := range []struct {
		call string
		code C.int
	}{
		{"Device_getName", C.device_name(t, d.handle, &name)}, {"Device_getVersion", C.device_version(t, d.handle, &version)}, {"Device_getType", C.device_type(t, d.handle, &kind)},
	} {
		if err := failure(x.call, x.code); err != nil {
			return nil, err
		}
	}
	if name == nil || version == nil {
		return nil, fmt.Errorf("a device without a name or a version")
	}
	capabilities, err := d.capabilities()
	if err != nil {
		return nil, err
	}
	d.name = C.GoString(name)
	return base.New(base.Config{
		Name: d.name, Description: "a driver through the support library interface", Version: C.GoString(version), Type: hal.DeviceType(kind),
		Capabilities: capabilities, Identity: "sl " + C.GoString(version),
	}, d), nil
}

// capabilities are the figures that the device reports.
func (d *driver) capabilities() (c hal.Capabilities, err error) {
	for kind, to := range []*hal.PerformanceInfo{&c.RelaxedScalar, &c.RelaxedTensor, &c.If, &c.While} {
		var p C.SL_ANeuralNetworksPerformanceInfo
		if err := failure("SL Device_getPerformanceInfo", C.device_performance(d.table, d.handle, C.int32_t(kind), &p)); err != nil {
			return c, err
		}
		*to = info(p)
	}
	all := (*C.struct_performances)(C.calloc(1, C.sizeof_struct_performances))
	defer C.free(unsafe.Pointer(all))
	if err := failure("SL Device_forEachOperandPerformanceInfo", C.device_performances(d.table, d.handle, all)); err != nil {
		return c, err
	}
	for _, p := range all.list[:all.count] {
		c.Update(nn.OperandType(p.operandType), info(p.performanceInfo))
	}
	return c, nil
}

func info(p C.SL_ANeuralNetworksPerformanceInfo) hal.PerformanceInfo {
	return hal.PerformanceInfo{ExecTime: float32(p.execTime), PowerUsage: float32(p.powerUsage)}
}

// statuses are the HAL's statuses of result codes: AOSP's table backwards.
var statuses = map[C.int]hal.Status{
	C.ANEURALNETWORKS_UNEXPECTED_NULL: hal.InvalidArgument, C.ANEURALNETWORKS_BAD_DATA: hal.InvalidArgument,
	C.ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE: hal.OutputInsufficientSize, C.ANEURALNETWORKS_UNAVAILABLE_DEVICE: hal.DeviceUnavailable,
	C.ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT: hal.MissedDeadlineTransient, C.ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT: hal.MissedDeadlinePersistent,
	C.ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT: hal.ResourceExhaustedTransient, C.ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT: hal.ResourceExhaustedPersistent,
	C.ANEURALNETWORKS_DEAD_OBJECT: hal.DeviceUnavailable,
}

// failure is the error of a call, nil where it succeeded.
func failure(call string, code C.int) error {
	if code == C.ANEURALNETWORKS_NO_ERROR {
		return nil
	}
	status, ok := statuses[code]
	if !ok {
		status = hal.GeneralFailure
	}
	return hal.Errorf(status, "%s: result code %d of the driver", call, code)
}
