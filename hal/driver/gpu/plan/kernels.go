package plan

import (
	"reflect"
	"sync"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Kernels keeps linked kernels by their keys, so that a model that is compiled again costs no
// code generation. Nothing changes a kept program. It may be used from several goroutines. The
// zero Kernels is empty.
type Kernels struct {
	mu           sync.Mutex
	linked       map[linkedKey]linked
	instructions int
}

// linkedKey is what code depends on: the operation names the source of instructions.
type linkedKey struct {
	key kernel.Key
	op  int
}

// linked is a kernel's code and the grid that launches it.
type linked struct {
	grid kernel.Grid
	code *rdna2.Program
}

// maxKeptInstructions bounds Kernels to some 40 MB.
const maxKeptInstructions = 1 << 18

// link returns the code of a key for an operation, generated unless it is kept.
func (k *Kernels) link(key kernel.Key, op int) (l linked, err error) {
	at := linkedKey{key, op}
	kept := reflect.TypeOf(key).Comparable()
	if kept {
		k.mu.Lock()
		l, known := k.linked[at]
		k.mu.Unlock()
		if known {
			return l, nil
		}
	}
	b := rdna.New(rdna2.NewTarget(), key.Name(), op)
	l.grid = key.Emit(b)
	if l.code, err = b.Link(); err == nil && kept {
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
