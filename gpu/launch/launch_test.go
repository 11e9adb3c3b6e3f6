package launch

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// assemble links a source of testdata and reads the file that it makes.
func assemble(t testing.TB, text string) *codeobject.File {
	t.Helper()
	u, err := asm.Assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := u.Link()
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.ELF()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = codeobject.Read(data); err != nil {
		t.Fatal(err)
	}
	return f
}

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
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
		rep, err := l.Run(newCore(t))
		if err != nil {
			t.Fatal(err)
		}
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

// TestPrivate: buffer and generic accesses to scratch see the same bytes, a
// callee's frame lies behind the kernel's, waves have scratch of their own.
func TestPrivate(t *testing.T) {
	f := assemble(t, source(t, "testdata/source/private.s"))
	for _, functional := range []bool{false, true} {
		out := make([]byte, 4*32)
		l := Launch{File: f, Kernel: "private", Groups: [3]int{9, 1, 1}, Block: [3]int{32, 1, 1}, Args: []Arg{{Buffer: out}}, Functional: functional, Memory: memory{}}
		if _, err := l.Run(newCore(t)); err != nil {
			t.Fatal(err)
		}
		wantInts(t, out, func(i int) uint32 {
			x := uint32(i)
			return (2*(x+100) + 1000) + x&0xFF + (x + 100) + x + (0x12 + 0xFFFFFF80)
		})
	}
}

// TestLaunchErrors: what does not fit the kernel is refused by name before
// anything runs.
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
		{Launch{Kernel: "vadd", Groups: one, Block: [3]int{2048, 1, 1}}, "at most 1024"},
		{Launch{Kernel: "vadd", Groups: one, Block: [3]int{257, 1, 1}}, "compiled for at most 256"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf}}, "1 arguments, the kernel takes (uint* a, uint* b, uint* out, uint n)"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, buf, n, n}}, "5 arguments"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{n, buf, buf, n}}, "argument 0: i32 where the kernel takes a buffer (uint* a)"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, buf, {Value: make([]byte, 8), Type: "i64"}}}, "i64 has 8 bytes, the kernel takes 4 (uint n)"},
		{Launch{Kernel: "vadd", Groups: one, Block: one, Args: []Arg{buf, buf, buf, {LDS: 1 << 20}}}, "65536"},
	} {
		c.l.File = f
		c.l.Memory = memory{}
		if _, err := c.l.Run(newCore(t)); err == nil || !strings.Contains(err.Error(), c.want) {
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
		{"s_mov_b32 m0, 9\nv_movrels_b32_e32 v0, v1", "M0 = 0x9 picks v10, the kernel has 8 registers"},
		{"scratch_load_dword v0, off, off offset:8", "scratch offset 8, the lane has 8 bytes"},
		{"s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS)", "s_getreg_b32 of hardware register 3"},
	} {
		l := Launch{File: assemble(t, kernel(c.body)), Kernel: "k", Groups: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, MaxInstructions: 10_000, Memory: memory{}}
		_, err := l.Run(newCore(t))
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

// TestValues: arguments by value have the bytes of their type.
func TestValues(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"i32", "-2", "feffffff"}, {"u8", "255", "ff"}, {"i64", "0x10", "1000000000000000"}, {"f32", "1.5", "0000c03f"}, {"f16", "1", "003c"},
		{"f64", "-2", "00000000000000c0"}, {"hex", "0102", "0102"},
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
