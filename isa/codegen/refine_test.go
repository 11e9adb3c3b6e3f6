package codegen

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestRefine: refined schedules keep the meaning, are never longer than the originals, and often shorter.
func TestRefine(t *testing.T) {
	tgt := newToy(12)
	shorter := 0
	for seed := range uint64(300) {
		f := randomFunc(tgt, rand.New(rand.NewPCG(seed, 2)), 2+int(seed%5))
		f.Ordered()
		want := f.interpret()
		require.NoError(t, f.resolve())
		live := f.liveness()
		live.makeGraphs()
		runs := f.blockRuns()
		before := f.best(attempts[inOrder:], live, runs)
		if before == nil {
			continue
		}
		code := f.refine(before, live, runs)
		if was, is := before.cost(runs), code.cost(runs); is > was {
			t.Errorf("seed %d: cost %d, before %d", seed, is, was)
		} else if is < was {
			shorter++
		}
		code.apply(f)
		if got := code.interpret(func(c Class) uint8 { return tgt.classes[c].File }); got.mem != want.mem {
			t.Fatalf("seed %d: memory %v, want %v", seed, got.mem, want.mem)
		}
	}
	if shorter < 100 {
		t.Errorf("only %d of 300 became shorter", shorter)
	}
	t.Logf("%d became shorter", shorter)
}
