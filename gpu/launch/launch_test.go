package launch

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// run executes a launch alone.
func (l *Launch) run(core *gpu.Core) (*sim.Report, error) { return RunAll(core, []*Launch{l}) }

// assemble links a source of testdata and reads the file that it makes.
func assemble(t testing.TB, text string) *codeobject.File {
	t.Helper()
	u, err := asm.Assemble(text)
	require.NoError(t, err)
	f, err := u.Link()
	require.NoError(t, err)
	data, err := f.ELF()
	require.NoError(t, err)
	if f, err = codeobject.Read(data); err != nil {
		t.Fatal(err)
	}
	return f
}

func source(t testing.TB, name string) string {
	t.Helper()
	b := require.File(t, name)
	return string(b)
}

func ints(n int, f func(i int) uint32) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, f(i))
	}
	return b
}

func wantInts(t *testing.T, got []byte, f func(i int) uint32) {
	t.Helper()
	for i := range len(got) / 4 {
		if g, w := binary.LittleEndian.Uint32(got[4*i:]), f(i); g != w {
			t.Errorf("word %d is %d, want %d", i, g, w)
			return
		}
	}
}

// TestVAdd: metadata places the arguments, hidden ones included, and lanes
// beyond n write nothing.
func TestVAdd(t *testing.T) {
	f := assemble(t, source(t, "../../cmd/nnsoc/testdata/vadd.s"))
	for _, functional := range []bool{false, true} {
		out := make([]byte, 400)
		l := Launch{File: f, Kernel: "vadd", Groups: [3]int{3, 1, 1}, Block: [3]int{40, 1, 1}, Functional: functional, Memory: memory{}, Args: []Arg{
			{Buffer: ints(100, func(i int) uint32 { return uint32(i) })}, {Buffer: ints(100, func(i int) uint32 { return uint32(7 * i) })},
			{Buffer: out}, {Value: binary.LittleEndian.AppendUint32(nil, 90)},
		}}
		rep := require.V(l.run(newCore(t)))(t)
		wantInts(t, out, func(i int) uint32 {
			if i >= 90 {
				return 0
			}
			return uint32(8 * i)
		})
		if !functional && (rep.Cycles == 0 || rep.Stalls.Total() != rep.Cycles) {
			t.Errorf("%d cycles, stalls of %d", rep.Cycles, rep.Stalls.Total())
		}
	}
}

// TestRunAll: launches of a run share buffers, and those in two queues begin together.
func TestRunAll(t *testing.T) {
	f := assemble(t, source(t, "../../cmd/nnsoc/testdata/vadd.s"))
	n := Arg{Value: binary.LittleEndian.AppendUint32(nil, 64)}
	launches := func(memory mem.Level) ([]*Launch, []byte) {
		a, sum, twice := ints(64, func(i int) uint32 { return uint32(i) }), make([]byte, 256), make([]byte, 256)
		add := func(x, y, out []byte) *Launch {
			return &Launch{File: f, Kernel: "vadd", Groups: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}, Memory: memory, Functional: memory == nil,
				Args: []Arg{{Buffer: x}, {Buffer: y}, {Buffer: out}, n}}
		}
		return []*Launch{add(a, a, sum), add(sum, a, twice)}, twice
	}
	for _, m := range []mem.Level{nil, memory{}} {
		list, out := launches(m)
		if _, err := RunAll(newCore(t), list); err != nil {
			t.Fatal(err)
		}
		wantInts(t, out, func(i int) uint32 { return uint32(3 * i) })
		if m != nil && (list[0].Start != 0 || list[0].End != list[1].Start || list[1].End <= list[1].Start) {
			t.Errorf("one from %d to %d, the next from %d to %d", list[0].Start, list[0].End, list[1].Start, list[1].End)
		}
	}
	list, _ := launches(memory{})
	list[1].Queue = 1
	if r, err := RunAll(newCore(t), list); err != nil || list[1].Start != 0 || len(r.Regions) != 2 {
		t.Errorf("the launch of another queue begins at %d of %d regions: %v", list[1].Start, len(r.Regions), err)
	}
	list[1].File = assemble(t, source(t, "../../cmd/nnsoc/testdata/vadd.s"))
	if _, err := RunAll(newCore(t), list); err == nil || err.Error() != "launches of several files" {
		t.Error(err)
	}
}

// TestPrivate: buffer and generic accesses to scratch see the same bytes, a callee's frame is behind the kernel's, and
// each wave has its own scratch.
func TestPrivate(t *testing.T) {
	f := assemble(t, source(t, "testdata/source/private.s"))
	for _, functional := range []bool{false, true} {
		out := make([]byte, 4*32)
		l := Launch{File: f, Kernel: "private", Groups: [3]int{9, 1, 1}, Block: [3]int{32, 1, 1}, Args: []Arg{{Buffer: out}}, Functional: functional, Memory: memory{}}
		if _, err := l.run(newCore(t)); err != nil {
			t.Fatal(err)
		}
		wantInts(t, out, func(i int) uint32 {
			x := uint32(i)
			return (2*(x+100) + 1000) + x&0xFF + (x + 100) + x + (0x12 + 0xFFFFFF80)
		})
	}
}

// TestLaunchErrors: arguments and sizes that do not fit the kernel are refused by name before anything runs.
func TestLaunchErrors(t *testing.T) {
	f := assemble(t, source(t, "../../cmd/nnsoc/testdata/vadd.s"))
	buf := Arg{Buffer: make([]byte, 4), Type: "a buffer"}
	n := Arg{Value: make([]byte, 4), Type: "i32"}
	one := [3]int{1, 1, 1}
	for _, c := range []struct {
		l    Launch
		want string
	}{
		{Launch{Kernel: "vsub", Groups: one, Block: one}, `no kernel "vsub": the file has vadd`},
		{Launch{Kernel: "vadd", Block: one}, "every dimension is at least 1"},
		{Launch{Kernel: "vadd", Groups: one, Block: [3]int{1025, 1, 1}}, "at most 1024"},
		{Launch{Kernel: "vadd", Groups: [3]int{1 << 21, 1, 1}, Block: [3]int{1024, 1, 1}}, "2^31-1 in a dimension"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, StackBytes: 8}, "a stack for a kernel that uses no scratch"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, buf, {Buffer: make([]byte, 4), Type: "buf"}}}, "buf has 8 bytes, the kernel takes 4 (uint n)"},
		{Launch{Kernel: "vadd", Groups: one, Block: [3]int{257, 1, 1}}, "compiled for at most 256"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf}}, "1 arguments, the kernel takes (uint* a, uint* b, uint* out, uint n)"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, buf, n, n}}, "5 arguments"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{n, buf, buf, n}}, "argument 0: i32 where the kernel takes a buffer (uint* a)"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, buf, {Value: make([]byte, 8), Type: "i64"}}}, "i64 has 8 bytes, the kernel takes 4 (uint n)"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, buf, {LDS: 1 << 20}}}, "65536"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, {LDS: 40 << 10}, {LDS: 24<<10 + 1}}}, "argument 3: 24577 bytes of LDS, at most 65536"},
	} {
		c.l.File = f
		c.l.Memory = memory{}
		if _, err := c.l.run(newCore(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestFaults: a program's own mistakes are faults with the address of the
// listing.
func TestFaults(t *testing.T) {
	kernel := func(body string) string {
		return "k:\n" + body + "\ns_endpgm\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 16\n" +
			".amdhsa_private_segment_fixed_size 8\n.amdhsa_float_denorm_mode_32 3\n.end_amdhsa_kernel\n"
	}
	for _, c := range []struct{ body, want string }{
		{"loop: s_branch loop", "instruction limit reached"},
		{"s_trap 2", "the kernel trapped: s_trap 2"},
		{"v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v0, 64\nglobal_store_dword v[0:1], v0, off", "at 0x40: not mapped"},
		{"scratch_load_dword v0, off, off offset:8", "scratch offset 8, the lane has 8 bytes"},
		{"s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS)", "s_getreg_b32 of hardware register 3"},
		{"v_mov_b32_e32 v0, 0\nglobal_store_dword v0, v0, s[0:1]", "segment arguments is read-only"},
		{"s_getpc_b64 s[0:1]\nv_mov_b32_e32 v0, 0\nglobal_store_dword v0, v0, s[0:1]", "segment code is read-only"},
		{"s_load_dwordx2 s[4:5], s[0:1], 0xfbc", "runs past the end of segment arguments"},
		{"scratch_store_dword off, v0, off offset:8", "recursion needs a dynamic stack"},
	} {
		l := Launch{File: assemble(t, kernel(c.body)), Kernel: "k", Groups: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, MaxInstructions: 10_000, Memory: memory{}}
		_, err := l.run(newCore(t))
		var fault *gpu.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a fault with %q", c.body, err, c.want)
			continue
		}
		if k, _ := l.File.Kernel("k"); fault.PC < int(k.Entry) || fault.PC > int(k.Entry)+64 {
			t.Errorf("%s: fault at %#x, the kernel begins at %#x", c.body, fault.PC, k.Entry)
		}
	}
}

// TestArgumentPages: compilers load several arguments at once and rely on mapped memory behind the last: the rest of a
// page, zero.
func TestArgumentPages(t *testing.T) {
	text := `k:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	s_load_dwordx4 s[4:7], s[0:1], 0x8
	s_load_dwordx16 s[8:23], s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	s_add_u32 s4, s4, s5
	s_add_u32 s4, s4, s6
	s_add_u32 s4, s4, s23
	v_mov_b32_e32 v0, 0
	v_mov_b32_e32 v1, s4
	global_store_dword v0, v1, s[2:3]
	s_endpgm
.amdhsa_kernel k
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_kernarg_size 20
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 24
.amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
`
	for _, functional := range []bool{false, true} {
		out := make([]byte, 4)
		word := func(v byte) Arg { return Arg{Value: []byte{v, 0, 0, 0}, Type: "i32"} }
		l := Launch{File: assemble(t, text), Kernel: "k", Groups: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Functional: functional, Memory: memory{},
			Args: []Arg{{Buffer: out}, word(3), word(4), word(5)}}
		if _, err := l.run(newCore(t)); err != nil {
			t.Fatal(err)
		}
		wantInts(t, out, func(int) uint32 { return 12 })
	}
}

// TestStackBytes: a stack that the kernel does not declare is there when the launch requests it.
func TestStackBytes(t *testing.T) {
	text := `k:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	v_mov_b32_e32 v1, 7
	scratch_store_dword off, v1, off offset:1020
	s_waitcnt_vscnt null, 0x0
	scratch_load_dword v1, off, off offset:1020
	v_mov_b32_e32 v0, 0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_dword v0, v1, s[2:3]
	s_endpgm
.amdhsa_kernel k
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_kernarg_size 8
.amdhsa_system_sgpr_private_segment_wavefront_offset 1
.amdhsa_private_segment_fixed_size 16
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 24
.amdhsa_float_denorm_mode_32 3
`
	run := func(more string, bytes int) (uint32, error) {
		out := make([]byte, 4)
		l := Launch{File: assemble(t, text+more+".end_amdhsa_kernel\n"), Kernel: "k", Groups: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Memory: memory{}, StackBytes: bytes,
			Args: []Arg{{Buffer: out}}}
		_, err := l.run(newCore(t))
		return binary.LittleEndian.Uint32(out), err
	}
	for _, c := range []struct {
		more  string
		bytes int
		want  string // of the error
	}{
		{"", 1024, ""},
		{".amdhsa_uses_dynamic_stack 1\n", 0, ""},
		{"", 0, "as much as the kernel declares: recursion needs a dynamic stack"},
		{"", 1020, "the lane has 1020 bytes"},
		{"", 1 << 20, "at most 65536"},
	} {
		got, err := run(c.more, c.bytes)
		if c.want == "" && (err != nil || got != 7) {
			t.Errorf("%q, %d bytes: %d, %v", c.more, c.bytes, got, err)
		} else if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q, %d bytes: %v, want %q", c.more, c.bytes, err, c.want)
		}
	}
}

// TestValues: arguments by value have the bytes of their type.
func TestValues(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"i32", "-2", "feffffff"}, {"u8", "255", "ff"}, {"i64", "0x10", "1000000000000000"}, {"f32", "1.5", "0000c03f"}, {"f16", "1", "003c"},
		{"f64", "-2", "00000000000000c0"}, {"f64", "0.1", "9a9999999999b93f"}, {"hex", "0102", "0102"}, {"hex", strings.Repeat("ab", 4096), strings.Repeat("ab", 4096)},
		{"lds", "1", ""}, {"lds", "65536", ""}, {"u64", "18446744073709551615", "ffffffffffffffff"}, {"u16", "0x1234", "3412"}, {"f16", "65504", "ff7b"},
		{"u8", "256", "does not fit"}, {"u32", "-1", "no number"}, {"i12", "1", "unknown kind"}, {"i4", "1", "unknown kind"}, {"i128", "1", "unknown kind"}, {"i", "1", "unknown kind"},
		{"hex", strings.Repeat("ab", 4097), "hexadecimal"}, {"hex", "", "hexadecimal"}, {"lds", "65537", "LDS"}, {"lds", "x", "LDS"},
		{"i8", "200", "does not fit"}, {"f32", "x", "no number"}, {"f8", "1", "unknown kind"}, {"str", "x", "unknown kind"}, {"hex", "0", "hexadecimal"}, {"lds", "0", "LDS"},
	} {
		a, err := ParseValue(c.kind, c.value)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			for _, b := range a.Value {
				got += string("0123456789abcdef"[b>>4]) + string("0123456789abcdef"[b&15])
			}
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%s:%s is %s, want %s", c.kind, c.value, got, c.want)
		}
	}
}

// TestLocalMemory: arguments in LDS are placed behind the kernel's own and one after the other, at multiples of 16
// bytes from there, and the reserved size holds all.
func TestLocalMemory(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		places []uint32
		lds    int
	}{
		{[]int{16, 16}, []uint32{40, 56}, 32},
		{[]int{17, 16, 1}, []uint32{40, 72, 88}, 64},
		{[]int{1, 15}, []uint32{40, 56}, 32},
	} {
		k := &codeobject.Kernel{Meta: &codeobject.Meta{KernargBytes: 4 * len(c.sizes)}}
		k.Descriptor.LDSBytes = 40
		l := Launch{}
		for i, n := range c.sizes {
			k.Meta.Args = append(k.Meta.Args, codeobject.Arg{Kind: "dynamic_shared_pointer", Offset: 4 * i, Bytes: 4})
			l.Args = append(l.Args, Arg{LDS: n})
		}
		seg, lds, err := l.kernarg(k)
		if err != nil || lds != c.lds {
			t.Errorf("%v: %d bytes reserved, %v, want %d", c.sizes, lds, err, c.lds)
			continue
		}
		for i, want := range c.places {
			if got := binary.LittleEndian.Uint32(seg[4*i:]); got != want {
				t.Errorf("%v: argument %d at %d, want %d", c.sizes, i, got, want)
			}
		}
	}
}

// TestHidden: each hidden argument of a launch of 2 x 3 x 5 work-groups of 7 x 11 x 13 lanes with 4096 bytes of dynamic LDS.
func TestHidden(t *testing.T) {
	l := Launch{Groups: [3]int{2, 3, 5}, Block: [3]int{7, 11, 13}}
	null := []string{"none", "multigrid_sync_arg", "default_queue", "completion_action"}
	for kind, want := range map[string]uint64{
		"block_count_x": 2, "block_count_y": 3, "block_count_z": 5, "group_size_x": 7, "group_size_y": 11, "group_size_z": 13,
		"remainder_x": 0, "remainder_y": 0, "remainder_z": 0, "global_offset_x": 0, "global_offset_y": 0, "global_offset_z": 0,
		"grid_dims": 3, "dynamic_lds_size": 4096,
		"private_base": gpu.PrivateAperture >> 32, "shared_base": gpu.SharedAperture >> 32, "queue_ptr": gpu.QueueAddress,
	} {
		got, err := l.hidden(&codeobject.Arg{Kind: "hidden_" + kind}, 4096)
		if err != nil || len(got) != 8 || binary.LittleEndian.Uint64(got) != want {
			t.Errorf("%s is %x, %v, want %x", kind, got, err, want)
		}
	}
	for _, kind := range null {
		if got, err := l.hidden(&codeobject.Arg{Kind: "hidden_" + kind}, 4096); got != nil || err != nil {
			t.Errorf("%s is %x, %v, want nothing", kind, got, err)
		}
	}
	for _, kind := range []string{"grid_dims_x", "block_count", "none_y", "queue"} {
		if got, err := l.hidden(&codeobject.Arg{Kind: "hidden_" + kind}, 4096); err == nil {
			t.Errorf("%s is %x", kind, got)
		}
	}
	for _, c := range []struct {
		groups, block [3]int
		dims          byte
	}{
		{[3]int{1, 1, 1}, [3]int{1, 1, 1}, 1}, {[3]int{2, 1, 1}, [3]int{1, 1, 1}, 1}, {[3]int{1, 2, 1}, [3]int{1, 1, 1}, 2},
		{[3]int{1, 1, 1}, [3]int{1, 2, 1}, 2}, {[3]int{1, 1, 2}, [3]int{1, 1, 1}, 3}, {[3]int{1, 1, 1}, [3]int{64, 1, 2}, 3},
	} {
		l := Launch{Groups: c.groups, Block: c.block}
		if got, err := l.hidden(&codeobject.Arg{Kind: "hidden_grid_dims"}, 0); err != nil || got[0] != c.dims {
			t.Errorf("work-groups %v of %v have %v dimensions, %v", c.groups, c.block, got, err)
		}
	}
}

// TestKernelEntry: a kernel begins in the code that contains its entry, which is padded to whole instructions.
func TestKernelEntry(t *testing.T) {
	segs := []codeobject.Segment{{Addr: codeBase + 0x1000, Data: make([]byte, 32)}, {Addr: codeBase + 0x2000, Data: make([]byte, 30), Exec: true}}
	for entry, want := range map[uint64]int{0x1000: -1, 0x1ffc: -1, 0x2000: 0, 0x2004: 4, 0x201c: 28, 0x201e: -1} {
		k, err := (&Launch{StackBytes: 100}).kernel(&codeobject.Kernel{Name: "k", Entry: entry, Descriptor: rdna2.DefaultDescriptor()}, segs)
		if err != nil && want >= 0 || err == nil && (k.Base != codeBase+0x2000 || k.Entry != want || len(k.Code) != 32 || k.ScratchBytes != 100) {
			t.Errorf("entry %#x: %+v, %v, want byte %d", entry, k, err, want)
		}
	}
}

// TestNewArray: a buffer has the type, shape and bytes of its description.
func TestNewArray(t *testing.T) {
	for _, c := range []struct {
		text, descr string
		shape       []int
		bytes       int // 0: refused
	}{
		{"f4:16,3", "<f4", []int{16, 3}, 192}, {"u1:1", "|u1", []int{1}, 1}, {"i8:2,2,2", "<i8", []int{2, 2, 2}, 64}, {"f2:5", "<f2", []int{5}, 10},
		{"f4", "", nil, 0}, {"f1:2", "", nil, 0}, {"f44:2", "", nil, 0}, {"4:2", "", nil, 0}, {"f4:0", "", nil, 0}, {"f4:2,", "", nil, 0}, {"f4:-1", "", nil, 0},
		{"u1:1073741824", "|u1", []int{1 << 30}, 1 << 30}, {"u1:1073741825", "", nil, 0}, {"f8:16384,16384", "", nil, 0},
	} {
		a, err := NewArray(c.text)
		if c.bytes == 0 {
			if err == nil {
				t.Errorf("%s: accepted", c.text)
			}
		} else if err != nil || a.Descr != c.descr || !slices.Equal(a.Shape, c.shape) || len(a.Data) != c.bytes {
			t.Errorf("%s: %+v, %v", c.text, a, err)
		}
	}
}

// TestArguments: without metadata arguments are at their natural alignment in a segment of the kernel's size; with it
// each is checked against the kernel's parameter.
func TestArguments(t *testing.T) {
	value := func(b ...byte) Arg { return Arg{Value: b, Type: "hex"} }
	for _, c := range []struct {
		size uint32
		args []Arg
		want string // the segment, or the error
	}{
		{0, []Arg{value(1), value(2, 3), value(4), value(5, 6, 7, 8)}, "01000203040000000506 0708"},
		{0, []Arg{value(1), value(1, 2, 3, 4, 5, 6, 7, 8)}, "0100000000000000 0102030405060708"},
		{0, []Arg{value(1), value(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)}, "0100000000000000 0102030405060708090a0b0c"},
		{0, []Arg{value(1), value(2, 3, 4, 5, 6, 7)}, "0100020304050607"},
		{0, []Arg{value(1), {LDS: 4}, {LDS: 1}}, "01000000 28000000 38000000"},
		{0, []Arg{value(1), {Buffer: []byte{0}, addr: 0x123456789}}, "0100000000000000 8967452301000000"},
		{6, []Arg{value(1)}, "010000000000"},
		{1, []Arg{value(1)}, "01"},
		{1, []Arg{value(1), value(2)}, "2 bytes of arguments, the kernel takes 1"},
	} {
		k := &codeobject.Kernel{}
		k.Descriptor.LDSBytes, k.Descriptor.KernargBytes = 40, c.size
		seg, _, err := (&Launch{Args: c.args}).kernarg(k)
		if got := hex.EncodeToString(seg); err == nil && got != strings.ReplaceAll(c.want, " ", "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %s, %v, want %s", c.args, got, err, c.want)
		}
	}
	for _, c := range []struct {
		arg   Arg
		takes codeobject.Arg
		want  string
	}{
		{Arg{Buffer: []byte{1}}, codeobject.Arg{Kind: "global_buffer"}, ""},
		{value(1, 2, 3, 4, 5, 6, 7, 8), codeobject.Arg{Kind: "global_buffer"}, ""},
		{value(1), codeobject.Arg{Kind: "global_buffer"}, "hex where the kernel takes a buffer"},
		{Arg{LDS: 1}, codeobject.Arg{Kind: "dynamic_shared_pointer"}, ""},
		{value(1), codeobject.Arg{Kind: "dynamic_shared_pointer", Name: "x"}, "hex where the kernel takes local memory (x): lds:BYTES"},
		{Arg{Buffer: []byte{1}}, codeobject.Arg{Kind: "by_value", Bytes: 8}, ""},
		{value(1), codeobject.Arg{Kind: "by_value", Bytes: 2, Type: "short"}, "hex has 1 bytes, the kernel takes 2 (short)"},
		{Arg{Type: "f32", Value: make([]byte, 4)}, codeobject.Arg{Kind: "by_value", Bytes: 4, Type: "int", Name: "n"}, "f32 where the kernel takes int n"},
		{Arg{Type: "u64", Value: make([]byte, 8)}, codeobject.Arg{Kind: "by_value", Bytes: 8, Type: "double"}, "u64 where the kernel takes double"},
		{Arg{Type: "i32", Value: make([]byte, 4)}, codeobject.Arg{Kind: "by_value", Bytes: 4, Type: "uint"}, ""},
		{Arg{Type: "f32", Value: make([]byte, 4)}, codeobject.Arg{Kind: "by_value", Bytes: 4, Type: "struct s"}, ""},
		{value(0, 0, 128, 63), codeobject.Arg{Kind: "by_value", Bytes: 4, Type: "int"}, ""},
		{value(1), codeobject.Arg{Kind: "image"}, `arguments of kind "image" are not supported`},
	} {
		got := ""
		if err := fits(&c.arg, &c.takes); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v for %+v: %q, want %q", c.arg, c.takes, got, c.want)
		}
	}
	m := &codeobject.Meta{Args: []codeobject.Arg{{Kind: "by_value", Bytes: 6}, {Kind: "hidden_none"}, {Kind: "by_value", Type: "int", Name: "n"}}}
	if got := signature(m); got != "by_value of 6 bytes, int n" {
		t.Errorf("a kernel that takes %s", got)
	}
	unsupported := &codeobject.Kernel{Meta: &codeobject.Meta{Args: []codeobject.Arg{{Kind: "hidden_x"}}}}
	if _, _, err := (&Launch{}).kernarg(unsupported); err == nil || err.Error() != "hidden argument hidden_x is not supported" {
		t.Error(err)
	}
	fixed := &codeobject.Kernel{Meta: &codeobject.Meta{Workgroup: [3]int{8, 2, 1}, MaxWorkgroup: 16}}
	for block, want := range map[[3]int]bool{{8, 2, 1}: true, {8, 1, 1}: false, {2, 8, 1}: false} {
		if err := (&Launch{Groups: [3]int{1, 1, 1}, Block: block}).check(fixed); (err == nil) != want {
			t.Errorf("a work-group of %v: %v", block, err)
		}
	}
}

// TestProfileAddresses: samples of a profile are at addresses of the file, as its kernel's entry is.
func TestProfileAddresses(t *testing.T) {
	f := assemble(t, source(t, "../../cmd/nnsoc/testdata/vadd.s"))
	var p sim.Profile
	four := Arg{Value: []byte{4, 0, 0, 0}}
	x := Arg{Buffer: make([]byte, 16)}
	l := Launch{File: f, Kernel: "vadd", Groups: [3]int{1, 1, 1}, Block: [3]int{4, 1, 1}, Memory: memory{}, Profile: &p, Args: []Arg{x, x, x, four}}
	require.V(l.run(newCore(t)))(t)
	k := require.V(f.Kernel("vadd"))(t)
	var at []int64
	for i := range p.Samples {
		if x := p.Samples[i].At; x != sim.NoInstruction {
			at = append(at, x)
		}
	}
	if len(at) < 10 || slices.Min(at) != int64(k.Entry) || slices.Max(at) > int64(k.Entry)+200 {
		t.Errorf("samples at %#x, the kernel begins at %#x", at, k.Entry)
	}
}
