//go:build linux && cgo && libneuralnetworks

package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>
#include <android/hardware_buffer.h>
#include <android/NeuralNetworksTypes.h>

// An app that has a buffer has loaded the library that made it, so its functions are looked up there.
typedef struct {
	void* library;
	void (*acquire)(AHardwareBuffer*);
	void (*release)(AHardwareBuffer*);
	void (*describe)(const AHardwareBuffer*, AHardwareBuffer_Desc*);
	int (*lock)(AHardwareBuffer*, uint64_t, int32_t, const ARect*, void**);
} nativeWindow;

static const char* openWindow(nativeWindow* w) {
	w->library = dlopen("libnativewindow.so", RTLD_NOW | RTLD_LOCAL);
	if (!w->library) return dlerror();
	w->acquire = (void (*)(AHardwareBuffer*))dlsym(w->library, "AHardwareBuffer_acquire");
	w->release = (void (*)(AHardwareBuffer*))dlsym(w->library, "AHardwareBuffer_release");
	w->describe = (void (*)(const AHardwareBuffer*, AHardwareBuffer_Desc*))dlsym(w->library, "AHardwareBuffer_describe");
	w->lock = (int (*)(AHardwareBuffer*, uint64_t, int32_t, const ARect*, void**))dlsym(w->library, "AHardwareBuffer_lock");
	return w->acquire && w->release && w->describe && w->lock ? NULL : "libnativewindow.so lacks functions";
}

// takeBuffer keeps a buffer and stores what it is; data is NULL where it has no bytes.
static void takeBuffer(const nativeWindow* w, uintptr_t buffer, AHardwareBuffer_Desc* desc, void** data) {
	AHardwareBuffer* b = (AHardwareBuffer*)buffer;
	w->acquire(b);
	w->describe(b, desc);
	if (desc->format != AHARDWAREBUFFER_FORMAT_BLOB ||
	    w->lock(b, AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN | AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN, -1, NULL, data) != 0)
		*data = NULL;
}

static void dropBuffer(const nativeWindow* w, uintptr_t b) { w->release((AHardwareBuffer*)b); }
*/
import "C"

import (
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

//export ANeuralNetworksMemory_createFromFd
func ANeuralNetworksMemory_createFromFd(size C.size_t, protect, fd C.int, offset C.size_t, out *C.uintptr_t) C.int {
	return call("Memory_createFromFd", func() error {
		*need(out) = 0
		if size == 0 || fd < 0 {
			return bad(nnapi.BadData, "%d bytes of descriptor %d", size, fd)
		}
		ours, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return bad(nnapi.UnexpectedNull, "descriptor %d: %w", fd, err)
		}
		f := os.NewFile(uintptr(ours), "memory")
		defer f.Close()
		m, err := nnapi.NewMemoryFromFile(f, nnapi.Protection(protect), int(size), int64(offset))
		return handle(out, m, err)
	})
}

// window is the library of hardware buffers.
var window = sync.OnceValues(func() (*C.nativeWindow, error) {
	w := new(C.nativeWindow)
	if why := C.openWindow(w); why != nil {
		return nil, bad(nnapi.OpFailed, "hardware buffers: %s", C.GoString(why))
	}
	return w, nil
})

//export ANeuralNetworksMemory_createFromAHardwareBuffer
func ANeuralNetworksMemory_createFromAHardwareBuffer(b C.uintptr_t, out *C.uintptr_t) C.int {
	return call("Memory_createFromAHardwareBuffer", func() error {
		*need(out) = 0
		if b == 0 {
			panic(errNull)
		}
		w, err := window()
		if err != nil {
			return err
		}
		m, err := hardwareMemory(w, b)
		return handle(out, m, err)
	})
}

// hardwareMemory is the memory of a buffer, which lives as long as the memory is in use.
func hardwareMemory(w *C.nativeWindow, b C.uintptr_t) (*nnapi.Memory, error) {
	desc, data := new(C.AHardwareBuffer_Desc), new(*byte)
	C.takeBuffer(w, b, desc, (*unsafe.Pointer)(unsafe.Pointer(data)))
	buffer := &nnapi.HardwareBuffer{Format: nnapi.HardwareBufferFormat(desc.format)}
	if buffer.Format == nnapi.FormatBlob {
		if *data == nil {
			C.dropBuffer(w, b)
			return nil, bad(nnapi.Unmappable, "the buffer cannot be locked")
		}
		buffer.Data = array(*data, C.size_t(desc.width))
	}
	m, err := nnapi.NewMemoryFromHardwareBuffer(buffer)
	if err != nil {
		C.dropBuffer(w, b)
		return nil, err
	}
	runtime.AddCleanup(m, func(b C.uintptr_t) { C.dropBuffer(w, b) }, b)
	return m, nil
}

//export ANeuralNetworksMemory_free
func ANeuralNetworksMemory_free(m C.uintptr_t) {
	release("Memory_free", m, func(x any) { x.(*nnapi.Memory).Free() })
}

//export ANeuralNetworksMemoryDesc_create
func ANeuralNetworksMemoryDesc_create(out *C.uintptr_t) C.int {
	return call("MemoryDesc_create", func() error { return handle(need(out), &nnapi.MemoryDesc{}, nil) })
}

//export ANeuralNetworksMemoryDesc_free
func ANeuralNetworksMemoryDesc_free(d C.uintptr_t) { release("MemoryDesc_free", d, func(any) {}) }

//export ANeuralNetworksMemoryDesc_addInputRole
func ANeuralNetworksMemoryDesc_addInputRole(d, c C.uintptr_t, i C.uint32_t, frequency C.float) C.int {
	return call("MemoryDesc_addInputRole", func() error {
		return of[nnapi.MemoryDesc](d).AddInputRole(of[nnapi.Compilation](c), uint32(i), float32(frequency))
	})
}

//export ANeuralNetworksMemoryDesc_addOutputRole
func ANeuralNetworksMemoryDesc_addOutputRole(d, c C.uintptr_t, i C.uint32_t, frequency C.float) C.int {
	return call("MemoryDesc_addOutputRole", func() error {
		return of[nnapi.MemoryDesc](d).AddOutputRole(of[nnapi.Compilation](c), uint32(i), float32(frequency))
	})
}

//export ANeuralNetworksMemoryDesc_setDimensions
func ANeuralNetworksMemoryDesc_setDimensions(d C.uintptr_t, rank C.uint32_t, dims *C.uint32_t) C.int {
	return call("MemoryDesc_setDimensions", func() error {
		desc := of[nnapi.MemoryDesc](d)
		return desc.SetDimensions(append([]uint32(nil), list(dims, rank)...))
	})
}

//export ANeuralNetworksMemoryDesc_finish
func ANeuralNetworksMemoryDesc_finish(d C.uintptr_t) C.int {
	return call("MemoryDesc_finish", func() error { return of[nnapi.MemoryDesc](d).Finish() })
}

//export ANeuralNetworksMemory_createFromDesc
func ANeuralNetworksMemory_createFromDesc(d C.uintptr_t, out *C.uintptr_t) C.int {
	return call("Memory_createFromDesc", func() error {
		*need(out) = 0
		m, err := nnapi.NewMemoryFromDesc(of[nnapi.MemoryDesc](d))
		return handle(out, m, err)
	})
}

//export ANeuralNetworksMemory_copy
func ANeuralNetworksMemory_copy(src, dst C.uintptr_t) C.int {
	return call("Memory_copy", func() error { return nnapi.CopyMemory(of[nnapi.Memory](src), of[nnapi.Memory](dst)) })
}
