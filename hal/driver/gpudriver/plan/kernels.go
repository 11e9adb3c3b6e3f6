package plan

import (
	"fmt"
	"sync"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Kernels keeps the code of kernels by identity, so that a model that is compiled again costs no
// code generation. Nothing changes a kept program. It may be used from several goroutines. The
// zero Kernels is empty.
type Kernels struct {
	mu           sync.Mutex
	linked       map[linkedKey]linked
	instructions int
}

// linkedKey is what code depends on: the operation names the source of instructions.
type linkedKey struct {
	identity string // see kernel.Identity
	op       int
}

// linked is a kernel's code and the grid that launches it.
type linked struct {
	grid kernel.Grid
	code *rdna2.Program
}

// maxKeptInstructions bounds Kernels to some 40 MB.
const maxKeptInstructions = 1 << 18

// link returns the code of a packed kernel for an operation, generated unless it is kept.
func (k *Kernels) link(x kernel.Kernel, op int) (l linked, err error) {
	at := linkedKey{kernel.Identity(x), op}
	k.mu.Lock()
	l, known := k.linked[at]
	k.mu.Unlock()
	if known {
		return l, nil
	}
	b := rdna.New(rdna2.NewTarget(), fmt.Sprintf("%T", x), op)
	l.grid = x.Emit(b)
	b.Name = l.grid.Name
	if l.code, err = b.Link(); err == nil {
		k.put(at, l)
	}
	return l, err
}

// put keeps a kernel; the kernels begin anew when there are too many.
func (k *Kernels) put(at linkedKey, l linked) {
	n := len(l.code.Insts)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.linked == nil || k.instructions+n > maxKeptInstructions {
		k.linked, k.instructions = map[linkedKey]linked{}, 0
	}
	if _, twice := k.linked[at]; !twice {
		k.linked[at] = l
		k.instructions += n
	}
}
