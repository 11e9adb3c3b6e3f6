//go:build linux && cgo && libneuralnetworks

package main

// #include <stdint.h>
// #include <android/NeuralNetworksTypes.h>
import "C"

import (
	"slices"

	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

//export ANeuralNetworksCompilation_create
func ANeuralNetworksCompilation_create(m C.uintptr_t, out *C.uintptr_t) C.int {
	return call("Compilation_create", func() error {
		model := of[nnapi.Model](m)
		need(out)
		p, err := thePhone()
		if err != nil {
			return err
		}
		c, err := p.runtime.NewCompilation(model)
		return handle(out, c, err)
	})
}

//export ANeuralNetworksCompilation_createForDevices
func ANeuralNetworksCompilation_createForDevices(m C.uintptr_t, handles *C.uintptr_t, n C.uint32_t, out *C.uintptr_t) C.int {
	return call("Compilation_createForDevices", func() error {
		model, devices := of[nnapi.Model](m), listed(handles, n)
		need(out)
		p, err := thePhone()
		if err != nil {
			return err
		}
		c, err := p.runtime.NewCompilationForDevices(model, devices)
		return handle(out, c, err)
	})
}

//export ANeuralNetworksCompilation_free
func ANeuralNetworksCompilation_free(c C.uintptr_t) { release("Compilation_free", c, func(any) {}) }

//export ANeuralNetworksCompilation_setPreference
func ANeuralNetworksCompilation_setPreference(c C.uintptr_t, preference C.int32_t) C.int {
	return call("Compilation_setPreference", func() error {
		return of[nnapi.Compilation](c).SetPreference(nnapi.Preference(preference))
	})
}

//export ANeuralNetworksCompilation_setPriority
func ANeuralNetworksCompilation_setPriority(c C.uintptr_t, priority C.int) C.int {
	return call("Compilation_setPriority", func() error { return of[nnapi.Compilation](c).SetPriority(nnapi.Priority(priority)) })
}

//export ANeuralNetworksCompilation_setTimeout
func ANeuralNetworksCompilation_setTimeout(c C.uintptr_t, duration C.uint64_t) C.int {
	return call("Compilation_setTimeout", func() error { return of[nnapi.Compilation](c).SetTimeout(nanoseconds(duration)) })
}

//export ANeuralNetworksCompilation_setCaching
func ANeuralNetworksCompilation_setCaching(c C.uintptr_t, dir *C.char, token *C.uint8_t) C.int {
	return call("Compilation_setCaching", func() error {
		bytes := array((*byte)(need(token)), C.ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN)
		return of[nnapi.Compilation](c).SetCaching(C.GoString(need(dir)), slices.Clone(bytes))
	})
}

//export ANeuralNetworksCompilation_finish
func ANeuralNetworksCompilation_finish(c C.uintptr_t) C.int {
	return call("Compilation_finish", func() error { return of[nnapi.Compilation](c).Finish() })
}

// preferred stores a figure of an argument of a compilation.
func preferred(name string, c C.uintptr_t, i C.uint32_t, out *C.uint32_t, ask func(*nnapi.Compilation, uint32) (int, error)) C.int {
	return call(name, func() error {
		n, err := ask(of[nnapi.Compilation](c), uint32(i))
		if *need(out) = C.uint32_t(n); err != nil {
			return err
		}
		return nil
	})
}

//export ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput
func ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c C.uintptr_t, i C.uint32_t, out *C.uint32_t) C.int {
	return preferred("Compilation_getPreferredMemoryAlignmentForInput", c, i, out, (*nnapi.Compilation).PreferredMemoryAlignmentForInput)
}

//export ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput
func ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c C.uintptr_t, i C.uint32_t, out *C.uint32_t) C.int {
	return preferred("Compilation_getPreferredMemoryPaddingForInput", c, i, out, (*nnapi.Compilation).PreferredMemoryPaddingForInput)
}

//export ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput
func ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(c C.uintptr_t, i C.uint32_t, out *C.uint32_t) C.int {
	return preferred("Compilation_getPreferredMemoryAlignmentForOutput", c, i, out, (*nnapi.Compilation).PreferredMemoryAlignmentForOutput)
}

//export ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput
func ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c C.uintptr_t, i C.uint32_t, out *C.uint32_t) C.int {
	return preferred("Compilation_getPreferredMemoryPaddingForOutput", c, i, out, (*nnapi.Compilation).PreferredMemoryPaddingForOutput)
}
