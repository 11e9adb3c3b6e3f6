//go:build linux && cgo && libneuralnetworks

package main

/*
#cgo CFLAGS: -I${SRCDIR}/include
#include <stdbool.h>
#include <android/NeuralNetworksTypes.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/cgo"
	"runtime/debug"
	"time"
	"unsafe"

	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// errNull is what a function panics with that meets a null pointer where it needs another;
// see call.
var errNull = errors.New("a pointer is null")

// verbose prints each call that fails, as Android logs it.
var verbose = os.Getenv(vlog.Variable) != ""

// call runs a function of the interface and returns its result code. A panic is OP_FAILED, for
// the app to go on.
func call(name string, do func() error) (code C.int) {
	defer func() {
		switch x := recover(); {
		case x == nil:
		case x == any(errNull):
			code = failed(name, nnapi.UnexpectedNull, errNull)
		default:
			fmt.Fprintf(os.Stderr, "nnsoc: ANeuralNetworks%s: internal error: %v\n", name, x)
			if verbose {
				os.Stderr.Write(debug.Stack())
			}
			code = C.int(nnapi.OpFailed)
		}
	}()
	if err := do(); err != nil {
		return failed(name, nnapi.CodeOf(err), err)
	}
	return C.ANEURALNETWORKS_NO_ERROR
}

func failed(name string, code nnapi.ResultCode, err error) C.int {
	if verbose {
		fmt.Fprintf(os.Stderr, "nnsoc: ANeuralNetworks%s: %v: %v\n", name, code, err)
	}
	return C.int(code)
}

// bad is a failure that the interface in C alone can have.
func bad(code nnapi.ResultCode, format string, args ...any) error {
	return &nnapi.Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// release runs a function that frees, which reports nothing.
func release(name string, handle C.uintptr_t, do func(any)) {
	if handle == 0 {
		return
	}
	call(name, func() error {
		h := cgo.Handle(handle)
		value := h.Value()
		h.Delete()
		do(value)
		return nil
	})
}

// handle stores a new handle of a value for the app, or 0 for that of a failed call.
func handle[T any](out *C.uintptr_t, value *T, err error) error {
	*out = 0
	if err == nil {
		*out = C.uintptr_t(cgo.NewHandle(value))
	}
	return err
}

// of is the value of a handle, which must not be null.
func of[T any](handle C.uintptr_t) *T {
	if handle == 0 {
		panic(errNull)
	}
	return cgo.Handle(handle).Value().(*T)
}

// need checks pointers that must not be null. It precedes what a call changes.
func need[T any](p *T) *T {
	if p == nil {
		panic(errNull)
	}
	return p
}

// array is memory of the app as a slice: nil for a null pointer, which must have no
// elements; empty for another without elements.
func array[T any](p *T, n C.size_t) []T {
	switch {
	case p == nil && n > 0:
		panic(errNull)
	case p == nil:
		return nil
	case n > math.MaxInt64/C.size_t(max(unsafe.Sizeof(*p), 1)):
		panic(fmt.Sprintf("%d elements", n))
	}
	return unsafe.Slice(p, int(n))
}

// block is a value or buffer of the app. NNAPI's lengths have 32 bits.
func block(p unsafe.Pointer, n C.size_t) ([]byte, error) {
	data := array((*byte)(p), n)
	if n > math.MaxUint32 {
		return nil, bad(nnapi.BadData, "%d bytes, at most %d", n, uint32(math.MaxUint32))
	}
	return data, nil
}

// list is a list of indices or dimensions.
func list(p *C.uint32_t, n C.uint32_t) []uint32 { return array((*uint32)(p), C.size_t(n)) }

// nanoseconds is a duration of the app; longer ones than 292 years are that long.
func nanoseconds(n C.uint64_t) time.Duration {
	return time.Duration(min(n, math.MaxInt64))
}
