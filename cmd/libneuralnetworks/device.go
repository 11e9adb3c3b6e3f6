//go:build linux && cgo && libneuralnetworks

package main

// #include <stdbool.h>
// #include <stdint.h>
import "C"

import "github.com/nnsoc/nnsoc/runtime/nnapi"

//export ANeuralNetworks_getRuntimeFeatureLevel
func ANeuralNetworks_getRuntimeFeatureLevel() C.int64_t { return nnapi.RuntimeFeatureLevel }

//export ANeuralNetworks_getDeviceCount
func ANeuralNetworks_getDeviceCount(count *C.uint32_t) C.int {
	return call("_getDeviceCount", func() error {
		need(count)
		p, err := thePhone()
		if err == nil {
			*count = C.uint32_t(len(p.devices))
		}
		return err
	})
}

//export ANeuralNetworks_getDevice
func ANeuralNetworks_getDevice(index C.uint32_t, out *C.uintptr_t) C.int {
	return call("_getDevice", func() error {
		need(out)
		p, err := thePhone()
		if err != nil {
			return err
		}
		if _, err := p.runtime.Device(int(index)); err != nil {
			return err
		}
		*out = p.devices[index].handle
		return nil
	})
}

//export ANeuralNetworksDevice_getName
func ANeuralNetworksDevice_getName(d C.uintptr_t, out **C.char) C.int {
	return call("Device_getName", func() error { *need(out) = of[device](d).name; return nil })
}

//export ANeuralNetworksDevice_getVersion
func ANeuralNetworksDevice_getVersion(d C.uintptr_t, out **C.char) C.int {
	return call("Device_getVersion", func() error { *need(out) = of[device](d).version; return nil })
}

//export ANeuralNetworksDevice_getType
func ANeuralNetworksDevice_getType(d C.uintptr_t, out *C.int32_t) C.int {
	return call("Device_getType", func() error { *need(out) = C.int32_t(of[device](d).Type()); return nil })
}

//export ANeuralNetworksDevice_getFeatureLevel
func ANeuralNetworksDevice_getFeatureLevel(d C.uintptr_t, out *C.int64_t) C.int {
	return call("Device_getFeatureLevel", func() error { *need(out) = C.int64_t(of[device](d).FeatureLevel()); return nil })
}

//export ANeuralNetworksDevice_wait
func ANeuralNetworksDevice_wait(d C.uintptr_t) C.int {
	return call("Device_wait", func() error { return of[device](d).Wait() })
}

//export ANeuralNetworksDevice_getExtensionSupport
func ANeuralNetworksDevice_getExtensionSupport(d C.uintptr_t, name *C.char, out *C.bool) C.int {
	return call("Device_getExtensionSupport", func() error {
		*need(out) = C.bool(of[device](d).ExtensionSupport(C.GoString(need(name))))
		return nil
	})
}

// listed are the devices of a list that the app gives.
func listed(handles *C.uintptr_t, n C.uint32_t) []*nnapi.Device {
	devices := make([]*nnapi.Device, n)
	for i, h := range array(need(handles), C.size_t(n)) {
		if h != 0 {
			devices[i] = of[device](h).Device
		}
	}
	return devices
}

//export ANeuralNetworksModel_getSupportedOperationsForDevices
func ANeuralNetworksModel_getSupportedOperationsForDevices(m C.uintptr_t, handles *C.uintptr_t, n C.uint32_t, out *C.bool) C.int {
	return call("Model_getSupportedOperationsForDevices", func() error {
		model, devices := of[nnapi.Model](m), listed(handles, n)
		need(out)
		p, err := thePhone()
		if err != nil {
			return err
		}
		supported, err := p.runtime.SupportedOperations(model, devices)
		if err != nil {
			return err
		}
		for i, s := range supported {
			array(out, C.size_t(len(supported)))[i] = C.bool(s)
		}
		return nil
	})
}
