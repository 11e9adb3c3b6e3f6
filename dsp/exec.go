package dsp

import "github.com/nnsoc/nnsoc/isa/hexagon"

// execGo runs the micro-ops of a block one by one through their semantic
// functions. The last entry of ops only ends assembly.
func (t *thread) execGo(b *block) {
	ops := b.ops[:len(b.ops)-1]
	for i := range ops {
		ops[i].fn(t, &ops[i])
	}
}

func (t *thread) exec(b *block) { t.execGo(b) }

func exitHandler() uintptr               { return 0 }
func handlerOf(op hexagon.Op) uintptr    { return 0 }
func guardHandler(inner uintptr) uintptr { return 0 }
