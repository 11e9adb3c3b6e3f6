//go:build linux && cgo && libneuralnetworks

package main

// #include <stdbool.h>
// #include <android/NeuralNetworksTypes.h>
import "C"

import (
	"unsafe"

	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

//export ANeuralNetworksExecution_create
func ANeuralNetworksExecution_create(c C.uintptr_t, out *C.uintptr_t) C.int {
	return call("Execution_create", func() error {
		compilation := of[nnapi.Compilation](c)
		e, err := nnapi.NewExecution(compilation)
		return handle(need(out), e, err)
	})
}

//export ANeuralNetworksExecution_free
func ANeuralNetworksExecution_free(e C.uintptr_t) { release("Execution_free", e, func(any) {}) }

// optional is the type that an argument may have; nil leaves it to the model.
func optional(t *C.ANeuralNetworksOperandType) *nnapi.OperandType {
	if t == nil {
		return nil
	}
	x := operandType(t)
	return &x
}

//export ANeuralNetworksExecution_setInput
func ANeuralNetworksExecution_setInput(e C.uintptr_t, i C.int32_t, t *C.ANeuralNetworksOperandType, p unsafe.Pointer, n C.size_t) C.int {
	return call("Execution_setInput", func() error {
		data, err := block(p, n)
		if err != nil {
			return err
		}
		return of[nnapi.Execution](e).SetInput(uint32(i), optional(t), data)
	})
}

//export ANeuralNetworksExecution_setOutput
func ANeuralNetworksExecution_setOutput(e C.uintptr_t, i C.int32_t, t *C.ANeuralNetworksOperandType, p unsafe.Pointer, n C.size_t) C.int {
	return call("Execution_setOutput", func() error {
		buffer, err := block(p, n)
		if err != nil {
			return err
		}
		return of[nnapi.Execution](e).SetOutput(uint32(i), optional(t), buffer)
	})
}

//export ANeuralNetworksExecution_setInputFromMemory
func ANeuralNetworksExecution_setInputFromMemory(e C.uintptr_t, i C.int32_t, t *C.ANeuralNetworksOperandType, m C.uintptr_t, offset, n C.size_t) C.int {
	return call("Execution_setInputFromMemory", func() error {
		return of[nnapi.Execution](e).SetInputFromMemory(uint32(i), optional(t), of[nnapi.Memory](m), int(offset), int(n))
	})
}

//export ANeuralNetworksExecution_setOutputFromMemory
func ANeuralNetworksExecution_setOutputFromMemory(e C.uintptr_t, i C.int32_t, t *C.ANeuralNetworksOperandType, m C.uintptr_t, offset, n C.size_t) C.int {
	return call("Execution_setOutputFromMemory", func() error {
		return of[nnapi.Execution](e).SetOutputFromMemory(uint32(i), optional(t), of[nnapi.Memory](m), int(offset), int(n))
	})
}

//export ANeuralNetworksExecution_compute
func ANeuralNetworksExecution_compute(e C.uintptr_t) C.int {
	return call("Execution_compute", func() error { return of[nnapi.Execution](e).Compute() })
}

//export ANeuralNetworksExecution_startCompute
func ANeuralNetworksExecution_startCompute(e C.uintptr_t, out *C.uintptr_t) C.int {
	return call("Execution_startCompute", func() error {
		*need(out) = 0
		v, err := of[nnapi.Execution](e).StartCompute()
		return handle(out, v, err)
	})
}

//export ANeuralNetworksExecution_startComputeWithDependencies
func ANeuralNetworksExecution_startComputeWithDependencies(e C.uintptr_t, events *C.uintptr_t, n C.uint32_t, duration C.uint64_t, out *C.uintptr_t) C.int {
	return call("Execution_startComputeWithDependencies", func() error {
		*need(out) = 0
		execution, after := of[nnapi.Execution](e), []*nnapi.Event(nil)
		for _, h := range array(events, C.size_t(n)) {
			after = append(after, of[nnapi.Event](h))
		}
		v, err := execution.StartComputeWithDependencies(after, nanoseconds(duration))
		return handle(out, v, err)
	})
}

//export ANeuralNetworksExecution_setMeasureTiming
func ANeuralNetworksExecution_setMeasureTiming(e C.uintptr_t, measure C.bool) C.int {
	return call("Execution_setMeasureTiming", func() error { return of[nnapi.Execution](e).SetMeasureTiming(bool(measure)) })
}

//export ANeuralNetworksExecution_getDuration
func ANeuralNetworksExecution_getDuration(e C.uintptr_t, code C.int32_t, out *C.uint64_t) C.int {
	return call("Execution_getDuration", func() error {
		execution := of[nnapi.Execution](e)
		n, err := execution.Duration(nnapi.DurationCode(code))
		*need(out) = C.uint64_t(n)
		return err
	})
}

//export ANeuralNetworksExecution_getOutputOperandRank
func ANeuralNetworksExecution_getOutputOperandRank(e C.uintptr_t, i C.int32_t, out *C.uint32_t) C.int {
	return call("Execution_getOutputOperandRank", func() error {
		need(out)
		dims, err := of[nnapi.Execution](e).OutputDimensions(uint32(i))
		*out = C.uint32_t(len(dims))
		return err
	})
}

//export ANeuralNetworksExecution_getOutputOperandDimensions
func ANeuralNetworksExecution_getOutputOperandDimensions(e C.uintptr_t, i C.int32_t, out *C.uint32_t) C.int {
	return call("Execution_getOutputOperandDimensions", func() error {
		need(out)
		dims, err := of[nnapi.Execution](e).OutputDimensions(uint32(i))
		if err == nil && len(dims) == 0 {
			return bad(nnapi.BadData, "output %d is a scalar", i)
		}
		copy(list(out, C.uint32_t(len(dims))), dims)
		return err
	})
}

//export ANeuralNetworksExecution_setTimeout
func ANeuralNetworksExecution_setTimeout(e C.uintptr_t, duration C.uint64_t) C.int {
	return call("Execution_setTimeout", func() error { return of[nnapi.Execution](e).SetTimeout(nanoseconds(duration)) })
}

//export ANeuralNetworksExecution_setLoopTimeout
func ANeuralNetworksExecution_setLoopTimeout(e C.uintptr_t, duration C.uint64_t) C.int {
	return call("Execution_setLoopTimeout", func() error { return of[nnapi.Execution](e).SetLoopTimeout(nanoseconds(duration)) })
}

//export ANeuralNetworks_getDefaultLoopTimeout
func ANeuralNetworks_getDefaultLoopTimeout() C.uint64_t { return C.uint64_t(nnapi.DefaultLoopTimeout) }

//export ANeuralNetworks_getMaximumLoopTimeout
func ANeuralNetworks_getMaximumLoopTimeout() C.uint64_t { return C.uint64_t(nnapi.MaximumLoopTimeout) }

//export ANeuralNetworksExecution_enableInputAndOutputPadding
func ANeuralNetworksExecution_enableInputAndOutputPadding(e C.uintptr_t, on C.bool) C.int {
	return call("Execution_enableInputAndOutputPadding", func() error {
		return of[nnapi.Execution](e).EnableInputAndOutputPadding(bool(on))
	})
}

//export ANeuralNetworksExecution_setReusable
func ANeuralNetworksExecution_setReusable(e C.uintptr_t, on C.bool) C.int {
	return call("Execution_setReusable", func() error { return of[nnapi.Execution](e).SetReusable(bool(on)) })
}

//export ANeuralNetworksBurst_create
func ANeuralNetworksBurst_create(c C.uintptr_t, out *C.uintptr_t) C.int {
	return call("Burst_create", func() error {
		compilation := of[nnapi.Compilation](c)
		b, err := nnapi.NewBurst(compilation)
		return handle(need(out), b, err)
	})
}

//export ANeuralNetworksBurst_free
func ANeuralNetworksBurst_free(b C.uintptr_t) {
	release("Burst_free", b, func(x any) { _ = x.(*nnapi.Burst).Free() }) // there is nobody to tell
}

//export ANeuralNetworksExecution_burstCompute
func ANeuralNetworksExecution_burstCompute(e, b C.uintptr_t) C.int {
	return call("Execution_burstCompute", func() error {
		return of[nnapi.Execution](e).BurstCompute(of[nnapi.Burst](b))
	})
}
