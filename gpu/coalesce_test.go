package gpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// TestReadLines: the lines of a load and its address cycles equal those found by examining each lane.
func TestReadLines(t *testing.T) {
	const shift = 6
	s := DefaultSpec()
	s.AddressLanes, s.BroadcastLanes = 4, 7
	m := newMachine(&s)
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		lanes, size := 32<<(round&1), 1<<r.IntN(5)
		if round%7 == 0 {
			size = 12
		}
		mask := state.FullMask(lanes)
		if round%3 == 0 {
			mask &= r.Uint64() | r.Uint64()
		}
		stride, group := uint64(r.IntN(100)), 1<<r.IntN(5)
		a := uint64(r.IntN(1 << 20))
		for l := range lanes {
			switch {
			case round%5 > 2: // the same addresses, or all of them a little further
				m.Addr[l] += uint64(round % 4 * 12)
				continue
			case round%5 == 2: // the same for all
			case r.IntN(20) == 0:
				a = uint64(r.IntN(1 << 12))
			case l%group == 0:
				a += stride
			}
			m.Addr[l] = a
		}
		if mask == 0 {
			continue
		}
		var want []uint64
		shared := 0
		for l := range lanes {
			if mask>>l&1 == 0 {
				continue
			}
			for line := m.Addr[l] >> shift; line <= (m.Addr[l]+uint64(size)-1)>>shift; line++ {
				if !slices.Contains(want, line) {
					want = append(want, line)
				}
			}
			if q := m.Addr[l&^3 : l|3+1]; mask>>(l&^3)&15 == 15 && q[0] == q[1] && q[1] == q[2] && q[2] == q[3] {
				shared++
			}
		}
		m.lanes.lineShift = shift
		port := m.lanes.touchLines(mask, &state.Access{Size: size}, lanes)
		var got []uint64
		for _, l := range m.lanes.lines {
			got = append(got, l>>shift)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: lines %#x of %d bytes by lanes %#x, want %#x", round, got, size, mask, want)
		}
		n := len(laneList(mask))
		cycles := int64(1)
		if n > s.AddressLanes { // shared / 7 + others / 4, whole cycles
			cycles = int64((shared*4 + (n-shared)*7 + 27) / 28)
		}
		if port != cycles {
			t.Fatalf("round %d: %d cycles for lanes %#x, want %d: %d share an address", round, port, mask, cycles, shared)
		}
	}
}

// randomLanes sets the lane addresses of m, aligned to unit, in runs of a stride, and returns a random mask.
func randomLanes(r *rand.Rand, m *machine, lanes int, unit uint64) (mask uint64) {
	mask = state.FullMask(lanes)
	switch r.IntN(4) {
	case 0:
		mask &= r.Uint64() | r.Uint64()
	case 1:
		mask &= state.FullMask(1 + r.IntN(lanes))
	}
	stride, group := unit*uint64(r.IntN(9)), 1<<r.IntN(4)
	a := unit * uint64(r.IntN(1<<10))
	far := 1 + r.IntN(40)
	for l := range lanes {
		if r.IntN(far) == 0 {
			a = unit * uint64(r.IntN(1<<10))
		} else if l%group == 0 {
			a += stride
		}
		m.Addr[l] = a
	}
	return mask
}

// TestBanks: an access to LDS costs, per pass of as many lanes as fill the banks, the number of different words in the
// most loaded bank, and one cycle if no lane is active.
func TestBanks(t *testing.T) {
	for _, banks := range []int{32, 64, 16} {
		s := DefaultSpec()
		s.LDSBanks = banks
		m := newMachine(&s)
		r := rand.New(rand.NewPCG(uint64(banks), 3))
		for round := range 3000 {
			lanes, size := 32<<(round&1), []int{1, 2, 4, 8, 12, 16}[r.IntN(6)]
			mask := randomLanes(r, m, lanes, uint64(size)&-uint64(size))
			words := max(1, size/4)
			per := min(32, banks/words)
			want := 0
			for base := 0; base < lanes; base += per {
				of := map[uint64]map[uint64]bool{}
				for l := base; l < base+per; l++ {
					for i := range uint64(words) {
						if w := m.Addr[l&63]/4 + i; l < lanes && mask>>l&1 != 0 {
							if of[w%uint64(banks)] == nil {
								of[w%uint64(banks)] = map[uint64]bool{}
							}
							of[w%uint64(banks)][w] = true
						}
					}
				}
				worst := 0
				for _, b := range of {
					worst = max(worst, len(b))
				}
				want += worst
			}
			if got := m.lanes.conflictCycles(&m.Addr, mask, size, lanes); got != int64(max(want, 1)) {
				t.Fatalf("%d banks, round %d: %d cycles for %d bytes at %#x by lanes %#x, want %d", banks, round, got, size, m.Addr[:lanes], mask, want)
			}
		}
	}
}

// TestStoreLines: the lines of a store, and the bytes written of each, equal those found byte by byte; consecutive
// dwords of a lane's scratch are as far apart as the wave is wide.
func TestStoreLines(t *testing.T) {
	const line = 64
	s := DefaultSpec()
	s.L0.Line = line
	m := newMachine(&s)
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 3000 {
		lanes, size := 32<<(round&1), []int{1, 2, 4, 8, 12, 16}[r.IntN(6)]
		mask := randomLanes(r, m, lanes, 1<<r.IntN(5))
		swizzled := round%3 == 0
		if swizzled {
			for l := range lanes {
				if m.Addr[l] &^= 3; r.IntN(3) > 0 {
					m.Addr[l] += state.ScratchWindow
				}
			}
			m.lanes.coalesceSwizzled(mask, size, lanes)
		} else {
			m.lanes.coalesce(mask, size, m.lanes.lineShift)
		}
		var want []uint64
		bytes := map[uint64]uint64{}
		add := func(a uint64) {
			if l := a &^ (line - 1); bytes[l] == 0 {
				want = append(want, l)
			}
			bytes[a&^(line-1)]++
		}
		part := size
		if swizzled {
			part = min(4, size)
		}
		for at := 0; at < size; at += part {
			for _, l := range laneList(mask) {
				a := m.Addr[l] + uint64(at)
				if swizzled && a >= state.ScratchWindow {
					a = m.Addr[l] + uint64(at*lanes)
				}
				for i := range min(part, size-at) {
					add(a + uint64(i))
				}
			}
		}
		for i := range want {
			want[i] += min(bytes[want[i]], line) - 1
		}
		if !slices.Equal(m.lanes.lines, want) {
			t.Fatalf("round %d: lines %#x of %d bytes at %#x by lanes %#x, want %#x", round, m.lanes.lines, size, m.Addr[:lanes], mask, want)
		}
	}
}

func laneList(mask uint64) (list []int) {
	for l := range 64 {
		if mask>>l&1 != 0 {
			list = append(list, l)
		}
	}
	return list
}

// TestMissEntries: an L0 with as many miss entries as its compute unit has misses in flight never waits for one.
func TestMissEntries(t *testing.T) {
	for _, n := range []int{1, 3, 80} {
		c := newCore(t, func(s *Spec) { s.L0.MSHRs = n })
		k := gemmKernel(t)
		var got [2]string
		for i := range got {
			s, _ := space(t, 12*128*128)
			st, err := c.NewState(&flat{latency: 200 * sim.Nanosecond})
			require.NoError(t, err)
			for j, l0 := range st.m.h.l0 {
				cfg := l0.Config()
				if cfg.MSHRs != 0 {
					t.Fatalf("the L0 has %d miss entries of its own", cfg.MSHRs)
				}
				if cfg.MSHRs = i * n; i > 0 {
					if st.m.h.l0[j], err = cache.New(cfg, st.m.h.l2); err != nil {
						t.Fatal(err)
					}
					st.m.cus[j].l0 = st.m.h.l0[j]
				}
			}
			r, err := c.Core.Run(s, []Dispatch{gemmDispatch(k, 128)}, Options{State: st})
			require.NoError(t, err)
			got[i] = fmt.Sprint(r.Cycles, r.Stalls, r.Counters)
		}
		if got[0] != got[1] {
			t.Errorf("%d in flight:\n%s\nwith entries of L0:\n%s", n, got[0], got[1])
		}
	}
}
