package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPlaceAll: values that are needed at once share no bytes of one memory, what is on chip stays below
// the capacity, and values that the client must reach are off chip where it does not reach the chip.
func TestPlaceAll(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		const onChip = 2000
		values := make([]layout.Value, 3+r.IntN(12))
		for i := range values {
			first := r.IntN(8)
			values[i] = layout.Value{Bytes: layout.Align(1 + r.IntN(900)), First: first, Last: first + r.IntN(4), Client: r.IntN(4) == 0}
		}
		reached := r.IntN(2) == 0
		placeAll(values, onChip, reached)
		near, far := end(values, layout.RegionArena), end(values, layout.RegionSpill)
		if near > onChip {
			t.Fatalf("%d bytes on a chip of %d", near, onChip)
		}
		for i := range values {
			v := &values[i]
			size := map[int]int{layout.RegionArena: near, layout.RegionSpill: far}[v.At.Region]
			if v.At.Bytes != v.Bytes || v.At.Addr+v.Bytes > size || v.At.Addr%layout.Alignment != 0 {
				t.Fatalf("%+v in a memory of %d bytes", v, size)
			}
			if v.Client && !reached && v.At.Region != layout.RegionSpill {
				t.Fatalf("%+v is out of the client's reach", v)
			}
			for k := range values[:i] {
				if w := &values[k]; v.First <= w.Last && w.First <= v.Last && v.At.Overlaps(&w.At) {
					t.Fatalf("%+v and %+v", v, w)
				}
			}
		}
	}
}

// TestCrowded: of values off chip, neither those that a client reaches nor those with a place count.
func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		v    layout.Value
		far  bool
		want bool
	}{{layout.Value{}, true, true}, {layout.Value{}, false, false}, {layout.Value{Client: true}, true, false}, {layout.Value{Fixed: true}, true, false}} {
		if got := spills(&step.List{Values: []layout.Value{{}, c.v}}, []bool{false, c.far}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestClientReach: a client's value is on chip where the client reaches that memory, which is where spilled values are.
func TestClientReach(t *testing.T) {
	for spill, want := range map[int]int{1: layout.RegionArena, 2: layout.RegionSpill} {
		to := Target{OnChip: 1 << 10, Map: layout.Map{layout.RegionArena: 1, layout.RegionSpill: spill}}
		values := (&Program{}).place(to, []layout.Value{{Bytes: 64, Client: true}}, nil, false)
		require.Same(t, want, values[0].At.Region, "spilled values at base", spill, "region")
	}
}
