package kernel_test

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// part has a field of every kind that kernels have.
type part struct {
	rows    []int
	act     float32
	name    string
	signed  bool
	strides [2]int32
	tensor  *layout.Tensor
}

// whole is a kernel.
type whole struct {
	*part
	parts []part
	table uint32
}

func (whole) Work() (w kernel.Work)          { return w }
func (whole) Emit(*rdna.Builder) kernel.Grid { return kernel.Flat("whole", 1) }

// other has the fields of another kernel.
type other struct{ whole }

// TestIdentity: every number, text and place within a kernel is a part of its identity, wherever it
// stands; addresses of memory and lifetimes of tensors are none.
func TestIdentity(t *testing.T) {
	make := func(change func(k *whole)) string {
		k := whole{part: &part{rows: []int{1, 2}, act: 0.5, name: "a", strides: [2]int32{3, 4}}, parts: []part{{}, {name: "b"}}, table: 5}
		k.tensor = &layout.Tensor{Region: layout.Arena, Off: 256, Elem: layout.F16, N: 7, First: 1, Last: 2}
		change(&k)
		return kernel.Identity(k)
	}
	base := make(func(*whole) {})
	if again := make(func(k *whole) { k.tensor.First, k.tensor.Last = 3, 4 }); again != base {
		t.Errorf("a kernel of another lifetime is %s, before %s", again, base)
	}
	seen := map[string]int{base: -1}
	for i, change := range []func(k *whole){
		func(k *whole) { k.rows = []int{12} },
		func(k *whole) { k.rows = []int{1, 2, 0} },
		func(k *whole) { k.act = float32(math.NaN()) },
		func(k *whole) { k.act = math.SmallestNonzeroFloat32 },
		func(k *whole) { k.act = float32(math.Copysign(0, -1)) },
		func(k *whole) { k.act = 0 },
		func(k *whole) { k.name = `a" 0` },
		func(k *whole) { k.signed = true },
		func(k *whole) { k.strides[1] = -4 },
		func(k *whole) { k.tensor = nil },
		func(k *whole) { k.tensor.Region = layout.Consts },
		func(k *whole) { k.tensor.Off++ },
		func(k *whole) { k.tensor.Elem = layout.F32 },
		func(k *whole) { k.tensor.N++ },
		func(k *whole) { k.parts[0].tensor = k.tensor },
		func(k *whole) { k.parts[1].tensor = k.tensor },
		func(k *whole) { k.parts = k.parts[:1] },
		func(k *whole) { k.table = 6 },
	} {
		id := make(change)
		if at, twice := seen[id]; twice {
			t.Errorf("change %d gives %s, as %d does", i, id, at)
		}
		seen[id] = i
	}
	if x, y := kernel.Identity(whole{part: &part{}}), kernel.Identity(other{whole{part: &part{}}}); x == y {
		t.Errorf("kernels of two types are %s", x)
	}
}

// closure is a kernel whose code could depend on anything.
type closure struct {
	whole
	f func()
}

// TestIdentityOfFunctions: functions have no identity.
func TestIdentityOfFunctions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a kernel with a function has an identity")
		}
	}()
	kernel.Identity(closure{whole{part: &part{}}, func() {}})
}
