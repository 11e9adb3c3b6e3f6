package gpu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// recordedRun is the report, the error and the bytes of dispatches, and how many of them were replayed.
func recordedRun(t *testing.T, ds []Dispatch, o Options, edit func(*Spec)) (report string, data []byte, replayed int) {
	t.Helper()
	c := newCore(t, edit)
	s, data := space(t, 1<<17)
	for i := range 1 << 14 {
		setWord(data, i, uint32(i*2654435761))
	}
	require.NoError(t, s.Map(mem.Segment{Name: "high", Base: 1<<32 - 4096, Data: slices.Clone(data[:1<<14]), ReadOnly: true}))
	o.replayed = &replayed
	r, err := c.Run(s, ds, o)
	if err != nil {
		return err.Error(), data, replayed
	}
	checkReport(t, r)
	return fmt.Sprintf("%+v", *r), data, replayed
}

// asTimed holds that dispatches have the same reports, errors and bytes whether they execute before they are timed or
// as they are, on any number of processors. It returns how many are replayed.
func asTimed(t *testing.T, ds []Dispatch, o Options, edit func(*Spec)) int {
	t.Helper()
	together := o
	together.executeTimed = true
	want, bytesWant, none := recordedRun(t, ds, together, edit)
	if none != 0 {
		t.Fatalf("%d dispatches were replayed that execute as they are timed", none)
	}
	first := -1
	for _, n := range []int{1, 2, 4} {
		before := runtime.GOMAXPROCS(n)
		got, b, replayed := recordedRun(t, ds, o, edit)
		runtime.GOMAXPROCS(before)
		if first < 0 {
			first = replayed
		}
		if got != want || !bytes.Equal(b, bytesWant) || replayed != first {
			t.Fatalf("on %d processors, %d replayed (%d on 1), equal bytes %v:\n%s\nwant\n%s", n, replayed, first, bytes.Equal(b, bytesWant), got, want)
		}
	}
	return first
}

// TestRecordedPrograms: random programs, some of whose waves meet in memory, cost the same time and leave the same
// bytes whether they execute first or as they are timed.
func TestRecordedPrograms(t *testing.T) {
	replayed, all := 0, 0
	for n := range 30 {
		r := rand.New(rand.NewPCG(uint64(n), 26))
		var ds []Dispatch
		for range 1 + r.IntN(4) {
			text := randomProgram(r)
			if r.IntN(3) > 0 { // stores and atomics would meet
				var kept []string
				for _, l := range strings.Split(text, "\n") {
					if !strings.Contains(l, "_store_") && !strings.Contains(l, "atomic") {
						kept = append(kept, l)
					}
				}
				end := "v_lshlrev_b32 v2, 2, v1\nv_add_nc_u32 v2, 0x10000, v2\nglobal_store_dword v2, v5, s[4:5]\ns_endpgm"
				text = strings.TrimSuffix(strings.TrimSpace(strings.Join(kept, "\n")), "s_endpgm") + end
			}
			size := []int{64, 32, 128, 100}[r.IntN(4)]
			k := &Kernel{Name: fmt.Sprint("program ", n), Code: assemble(t, false, text), WaveSize: 32, VGPRs: 32 + 8*r.IntN(6), LDSBytes: 2048 << r.IntN(3)}
			ds = append(ds, Dispatch{Kernel: k, Grid: [3]int{(1 + r.IntN(12)) * size}, Workgroup: [3]int{size}, Kernarg: args(dataBase), Region: len(ds)})
		}
		replayed += asTimed(t, ds, Options{}, nil)
		all += len(ds)
	}
	if replayed < all/10 || replayed > all*9/10 {
		t.Errorf("%d of %d dispatches were replayed", replayed, all)
	}
}

// TestRecordable: a dispatch executes before it is timed unless that could change its results.
func TestRecordable(t *testing.T) {
	own := "v_lshl_add_u32 v1, s2, 6, v0\nv_lshlrev_b32 v2, 2, v1\n" // byte of the work-item, 256 for each group
	for _, x := range []struct {
		name, text string
		replayed   int
	}{
		{"each wave in its place", base + own + "global_load_dword v3, v2, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_nc_u32 v3, 1, v3\nglobal_store_dword v2, v3, s[4:5]", 3},
		{"a wave reads what the one before writes", base + own + "v_add_nc_u32 v4, 0x80, v2\nglobal_load_dword v3, v4, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_nc_u32 v3, 1, v3\nglobal_store_dword v2, v3, s[4:5]", 0},
		{"a scalar load of what others write", base + own + "global_store_dword v2, v1, s[4:5]\ns_load_dword s7, s[4:5], 0x40\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v5, s7\nglobal_store_dword v2, v5, s[4:5]", 0},
		{"a load whose line ends in the first byte written", base + own + "v_mov_b32 v4, 0\nglobal_load_dword v3, v4, s[4:5] offset:60\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v3, s[4:5] offset:63", 0},
		{"all write one word", base + own + "v_mov_b32 v2, 0\nglobal_store_dword v2, v1, s[4:5]", 0},
		{"all write one word alike", base + own + "v_mov_b32 v2, 0\nglobal_store_dword v2, v2, s[4:5]", 3},
		{"bytes of one line", base + own + "global_store_byte v1, v1, s[4:5]", 3},
		{"an atomic", base + own + "v_mov_b32 v2, 0\nv_mov_b32 v3, 1\nglobal_atomic_add v4, v2, v3, s[4:5] glc\ns_waitcnt vmcnt(0)\nv_lshlrev_b32 v2, 2, v1\nglobal_store_dword v2, v4, s[4:5] offset:64", 0},
		{"the clock", base + own + "s_memtime s[8:9]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, s8\nglobal_store_dword v2, v3, s[4:5]", 0},
		{"the register of cycles", base + own + "s_getreg_b32 s8, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\nv_mov_b32 v3, s8\nglobal_store_dword v2, v3, s[4:5]", 0},
		{"LDS behind a barrier", base + own + "v_lshlrev_b32 v4, 2, v0\nds_write_b32 v4, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_sub_nc_u32 v4, 0xfc, v4\nds_read_b32 v3, v4\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v3, s[4:5]", 3},
		{"LDS without a barrier", base + own + "v_lshlrev_b32 v4, 2, v0\nds_write_b32 v4, v1\ns_waitcnt lgkmcnt(0)\nv_sub_nc_u32 v4, 0xfc, v4\nds_read_b32 v3, v4\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v3, s[4:5]", 0},
		{"each wave its part of LDS", base + own + "v_lshlrev_b32 v4, 2, v0\nds_write_b32 v4, v1\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v4\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v2, v3, s[4:5]", 3},
		{"a fault in some group", base + own + "v_mul_u32_u24 v3, 0x3000, v1\nglobal_store_dword v2, v1, s[4:5]\nglobal_store_dword v3, v1, s[4:5]", 0},
		{"a register that was not waited for", base + own + "global_load_dword v3, v2, s[4:5]\nv_add_nc_u32 v3, 1, v3", 0},
		{"an access of no lane", base + own + "s_mov_b32 exec_lo, 0\nglobal_load_dword v3, v2, s[4:5]\ns_waitcnt vmcnt(0)\ns_mov_b32 exec_lo, -1\nglobal_store_dword v2, v1, s[4:5]", 3},
		{"addresses above 4 GiB", base + own + "s_mov_b32 s8, 64\ns_mov_b32 s9, 1\ns_load_dword s7, s[8:9], 0x100\nglobal_load_dword v3, v2, s[8:9]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_nc_u32 v3, s7, v3\nglobal_store_dword v2, v3, s[4:5]", 3},
		{"addresses above 4 TiB", base + own + "v_mov_b32 v4, s4\ns_load_dwordx2 s[8:9], s[0:1], 0x0\nglobal_load_dword v3, v0, s[0:1]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_nc_u32 v3, s8, v3\nglobal_store_dword v2, v3, s[4:5]", 3},
		{"an access on both sides of 4 GiB", base + own + "s_mov_b32 s8, 0xffffffc0\ns_mov_b32 s9, 0\nglobal_load_dword v3, v2, s[8:9]\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v3, s[4:5]", 0},
		{"no end", base + own + "loop:\nglobal_store_dword v2, v1, s[4:5]\ns_branch loop", 0},
	} {
		k := kernelOf(t, 32, x.text)
		d := Dispatch{Kernel: k, Grid: [3]int{64 * 20}, Workgroup: [3]int{64}, Kernarg: args(dataBase)}
		o := Options{MaxInstructions: 200_000}
		if n := asTimed(t, []Dispatch{d, d, d}, o, nil); n != x.replayed {
			t.Errorf("%s: %d of 3 dispatches were replayed, want %d", x.name, n, x.replayed)
		}
		if n := asTimed(t, []Dispatch{d}, o, nil); n != x.replayed/3 {
			t.Errorf("%s: %d of 1 dispatch were replayed, want %d", x.name, n, x.replayed/3)
		}
	}
}

// TestRecordFields: a load of a wave64 has at most two lines for each lane and a cycle of the port, which a word holds.
func TestRecordFields(t *testing.T) {
	k := kernelOf(t, 64, base+"v_lshl_add_u32 v1, s2, 6, v0\nv_lshlrev_b32 v2, 2, v1\nv_lshlrev_b32 v3, 7, v0\nglobal_load_dwordx4 v[4:7], v3, s[4:5] offset:56\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v1, s[4:5] offset:1024")
	d := Dispatch{Kernel: k, Grid: [3]int{64}, Workgroup: [3]int{64}, Kernarg: args(dataBase)}
	if n := asTimed(t, []Dispatch{d, d}, Options{}, func(s *Spec) { s.AddressLanes, s.BroadcastLanes = 1, 1 }); n != 2 {
		t.Errorf("%d of 2 dispatches were replayed", n)
	}
}

// TestRecordLimit: a dispatch whose recording would be too long executes as it is timed, with the same result.
func TestRecordLimit(t *testing.T) {
	text := base + "v_lshl_add_u32 v1, s2, 6, v0\nv_lshlrev_b32 v2, 2, v1\ns_movk_i32 s6, 400\nloop:\ns_sub_u32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 loop\nglobal_store_dword v2, v1, s[4:5]"
	d := Dispatch{Kernel: kernelOf(t, 32, text), Grid: [3]int{64 * 20}, Workgroup: [3]int{64}, Kernarg: args(dataBase)}
	for _, x := range []struct{ words, replayed int }{{500, 0}, {10_000, 0}, {20_000, 2}} {
		if n := asTimed(t, []Dispatch{d, d}, Options{maxRecord: x.words}, nil); n != x.replayed {
			t.Errorf("limit of %d words: %d of 2 dispatches were replayed, want %d", x.words, n, x.replayed)
		}
	}
}

// TestRecordFits: a recording continues while it is within its limit, and while all work-groups after the first would
// be; LDS has a bit for each dword, read and written, where waves can meet there.
func TestRecordFits(t *testing.T) {
	for _, c := range []struct {
		words, waves, done int
		groups             int64
		fits               bool
	}{{90, 10, 1, 1, true}, {91, 10, 1, 1, false}, {40, 10, 1, 2, true}, {41, 10, 1, 2, false}, {41, 10, 2, 2, true}, {91, 10, 2, 2, false}, {90, 10, 2, 1000, true}} {
		r := recording{limit: 100, words: make([]uint32, c.words), waves: make([]uint32, c.waves), groups: make([]uint32, c.done)}
		if r.fits(c.groups) != c.fits {
			t.Errorf("%+v: the other way", c)
		}
	}
	r := recording{}
	for _, c := range []struct{ lds, waves, epochs int }{{65536, 2, 2}, {4, 3, 3}, {256, 2, 2}, {257, 2, 2}, {0, 2, 0}, {256, 1, 0}, {65532, 4, 4}} {
		r.group(&workgroup{Workgroup: state.Workgroup{LDS: make([]byte, c.lds)}, waves: make([]*wave, c.waves)})
		if len(r.lds) != c.epochs {
			t.Errorf("%d waves, %d bytes: %d epochs", c.waves, c.lds, len(r.lds))
		}
		for _, e := range r.lds {
			if want := (c.lds/4 + 63) / 64; len(e.read) < want || len(e.read) > want+1 || len(e.written) != len(e.read) {
				t.Errorf("%d bytes: %d and %d words of bits", c.lds, len(e.read), len(e.written))
			}
		}
	}
	if want := []uint32{0, 2, 5, 7, 9, 11, 12}; !slices.Equal(r.groups, want) || len(r.waves) != 16 {
		t.Errorf("groups begin at %d of %d, want %d of 16", r.groups, len(r.waves), want)
	}
}

// TestRecordStops: recording ends before dispatches that are under way together, and at an error, after which none
// executes.
func TestRecordStops(t *testing.T) {
	good := kernelOf(t, 32, base+"v_lshl_add_u32 v1, s2, 6, v0\nv_lshlrev_b32 v2, 2, v1\nglobal_store_dword v2, v1, s[4:5]")
	bad := kernelOf(t, 32, base+"v_mov_b32 v2, -4\nglobal_store_dword v2, v2, s[4:5]")
	d := func(k *Kernel, offset uint64) Dispatch {
		return Dispatch{Kernel: k, Grid: [3]int{64 * 4}, Workgroup: [3]int{64}, Kernarg: args(dataBase + offset)}
	}
	if n := asTimed(t, []Dispatch{d(good, 0), d(bad, 0), d(good, 4096)}, Options{}, nil); n != 1 {
		t.Errorf("%d dispatches were replayed, want 1", n)
	}
	beside := d(good, 4096)
	beside.Concurrent = true
	if n := asTimed(t, []Dispatch{d(good, 0), d(good, 0), d(good, 0), beside, d(good, 0), d(good, 0), d(bad, 0)}, Options{}, nil); n != 4 {
		t.Errorf("dispatches beside each other: %d were replayed, want 4", n)
	}
	if n := asTimed(t, []Dispatch{d(good, 0), {}, d(good, 4096)}, Options{}, nil); n != 1 {
		t.Errorf("a dispatch without a kernel: %d were replayed, want 1", n)
	}
}

// TestRecordedAgain: dispatches that have executed are timed again, on another state and at another clock, as if they executed
// once more, and leave the bytes of the space alone.
func TestRecordedAgain(t *testing.T) {
	for n := range 20 {
		r := rand.New(rand.NewPCG(uint64(n), 27))
		var ds []Dispatch
		for i := range 1 + r.IntN(3) {
			text := base + "v_lshl_add_u32 v1, s2, 6, v0\nv_lshlrev_b32 v2, 2, v1\nv_and_b32 v4, 0x7c, v2\nglobal_load_dword v3, v4, s[4:5]\n" +
				fmt.Sprintf("s_movk_i32 s6, %d\nloop:\nv_add_f32 v5, v1, v1\ns_sub_u32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 loop\n", 1+r.IntN(9)) +
				"v_lshlrev_b32 v6, 2, v0\nds_write_b32 v6, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v7, v6\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_nc_u32 v3, v3, v7\nglobal_store_dword v2, v3, s[4:5] offset:256"
			ds = append(ds, Dispatch{Kernel: kernelOf(t, 32, text), Grid: [3]int{64 * (1 + r.IntN(30))}, Workgroup: [3]int{64}, Kernarg: args(dataBase), Region: i})
		}
		c := newCore(t, nil)
		run := func(o Options) (string, []byte) {
			s, data := space(t, 1<<17)
			rep, err := c.Run(s, ds, o)
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, rep)
			return fmt.Sprintf("%+v", *rep), data
		}
		kept := &Recorded{Limit: 1 << 20}
		slow := []sim.Change{{OPP: sim.OPP{Hz: 100e6, Volts: 0.5}}}
		want, left := run(Options{})
		wantSlow, _ := run(Options{Points: slow})
		first, _ := run(Options{Recorded: kept})
		if first != want || !kept.Complete() || kept.Bytes() == 0 {
			t.Fatalf("%d: recorded, whole %v:\n%s\nwant\n%s", n, kept.Complete(), first, want)
		}
		for range 2 {
			replayed := 0
			got, data := run(Options{Recorded: kept, Points: slow, replayed: &replayed})
			if got != wantSlow || want == wantSlow || replayed != len(ds) {
				t.Errorf("%d: %d of %d dispatches timed again at another clock:\n%s\nwant\n%s", n, replayed, len(ds), got, wantSlow)
			}
			if bytes.Equal(data, left) || slices.ContainsFunc(data, func(b byte) bool { return b != 0 }) {
				t.Errorf("%d: dispatches that are timed again have written", n)
			}
		}
		if again, _ := run(Options{Recorded: kept}); again != want {
			t.Errorf("%d: timed again:\n%s\nwant\n%s", n, again, want)
		}
		memory := &kept.dispatches[0].words[0]
		kept.Renew()
		if renewed, data := run(Options{Recorded: kept}); renewed != want || !bytes.Equal(data, left) || !kept.Complete() || &kept.dispatches[0].words[0] != memory {
			t.Errorf("%d: in the memory of the run before, whole %v:\n%s\nwant\n%s", n, kept.Complete(), renewed, want)
		}
		small := &Recorded{Limit: kept.Bytes() - 1}
		for range 2 {
			if got, data := run(Options{Recorded: small}); got != want || !bytes.Equal(data, left) || small.Complete() || small.Bytes() != 0 {
				t.Errorf("%d: with too little room, whole %v, %d bytes:\n%s\nwant\n%s", n, small.Complete(), small.Bytes(), got, want)
			}
		}
	}
}

// TestRecordedRefuses: a dispatch that cannot execute ahead of timing is not kept; a kept run is timed as before.
func TestRecordedRefuses(t *testing.T) {
	store := "v_lshl_add_u32 v1, s2, 6, v0\nv_lshlrev_b32 v2, 2, v1\n"
	d := func(text string) Dispatch {
		return Dispatch{Kernel: kernelOf(t, 32, base+store+text), Grid: [3]int{64 * 4}, Workgroup: [3]int{64}, Kernarg: args(dataBase)}
	}
	good, clock := d("global_store_dword v2, v1, s[4:5]"), d("s_memtime s[8:9]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, s8\nglobal_store_dword v2, v3, s[4:5]")
	beside := good
	beside.Concurrent = true
	c := newCore(t, nil)
	s, _ := space(t, 1<<16)
	run := func(ds []Dispatch, o Options) error {
		_, err := c.Run(s, ds, o)
		return err
	}
	kept := &Recorded{Limit: 1 << 20}
	for _, ds := range [][]Dispatch{{good, clock}, {clock, good}, {good, good, beside}} {
		for range 2 {
			if err := run(ds, Options{Recorded: kept}); err != nil || kept.Complete() {
				t.Errorf("%d dispatches: whole %v, error %v", len(ds), kept.Complete(), err)
			}
		}
	}
	if err := run([]Dispatch{good, d("v_mov_b32 v2, -4\nglobal_store_dword v2, v2, s[4:5]")}, Options{Recorded: kept}); err == nil || kept.Complete() {
		t.Errorf("a fault: whole %v, error %v", kept.Complete(), err)
	}
	if err := run([]Dispatch{good, good}, Options{Recorded: kept}); err != nil || !kept.Complete() {
		t.Fatalf("whole %v, error %v", kept.Complete(), err)
	}
	for _, o := range []Options{{Functional: true}, {Until: 1}} {
		o.Recorded = kept
		if err := run([]Dispatch{good, good}, o); err == nil || !kept.Complete() {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	if err := run([]Dispatch{good}, Options{Recorded: kept}); err == nil || !kept.Complete() {
		t.Errorf("fewer dispatches: error %v", err)
	}
}
