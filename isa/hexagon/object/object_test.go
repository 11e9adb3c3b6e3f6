package object_test

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

// program is a small image: fn adds two vectors of bytes at r0 and r1 into r2.
func program(t *testing.T) *object.Image {
	t.Helper()
	const text, fn, data = 0x10000, 0x10800, 0x20000
	pk := require.V(asm.Assemble("{ v0 = vmem(r0+#0) }\n{ v1 = vmem(r1+#0) }\n{ v0.b = vadd(v0.b,v1.b) ; vmem(r2+#0) = v0.new }\njumpr r31", fn))(t)
	words := require.V(hexagon.EncodeAll(nil, pk))(t)
	stub := hexagon.Stub{
		Calls: []hexagon.Call{{Regs: []hexagon.RegValue{{Reg: 0, Value: data}, {Reg: 1, Value: data + 128}, {Reg: 2, Value: data + 256}}, Entry: fn}},
		Dump:  []hexagon.MemRange{{Addr: data + 256, Len: 128}, {Addr: data, Len: 3}},
	}
	start := require.V(stub.Code(text))(t)
	code := make([]byte, fn-text)
	copy(code, start)
	mem := make([]byte, 256)
	for i := range mem {
		mem[i] = byte(i * 7)
	}
	return &object.Image{Entry: text, Segments: []object.Segment{
		{Addr: data, Data: mem, Size: 512, Write: true},
		{Addr: text, Data: append(code, hexagon.Bytes(words)...), Exec: true},
	}}
}

func TestELF(t *testing.T) {
	im := program(t)
	b := require.V(im.ELF())(t)
	f := require.V(elf.NewFile(bytes.NewReader(b)))(t)
	if f.Machine != elf.EM_QDSP6 || f.Entry != uint64(im.Entry) || len(f.Progs) != 2 {
		t.Errorf("machine %v entry %#x, %d segments", f.Machine, f.Entry, len(f.Progs))
	}
	for i, p := range f.Progs {
		got := make([]byte, p.Filesz)
		require.V(p.ReadAt(got, 0))(t)
		want := im.Segments[1-i] // sorted by address
		if !bytes.Equal(got, want.Data) || p.Memsz != uint64(max(want.Size, uint32(len(want.Data)))) || p.Vaddr != uint64(want.Addr) || (p.Off-p.Vaddr)%object.PageSize != 0 {
			t.Errorf("segment %d: %+v", i, p.ProgHeader)
		}
	}
	for _, c := range []struct {
		im   object.Image
		want string
	}{
		{object.Image{Entry: 5, Segments: []object.Segment{{Addr: 0x1000, Data: make([]byte, 8), Exec: true}}}, "no executable segment"},
		{object.Image{Entry: 0x1000, Segments: []object.Segment{{Addr: 0x1000, Data: make([]byte, 8), Exec: true}, {Addr: 0x8000, Size: 4}}}, "share a page"},
		{object.Image{Entry: 0x1000, Segments: []object.Segment{{Addr: 0xfffffffc, Size: 8, Exec: true}}}, "wraps"},
	} {
		require.ErrorContains(t, require.Err(c.im.ELF()), c.want)
	}
}

// TestOracleRun runs the image in QEMU.
func TestOracleRun(t *testing.T) {
	oracle.Need(t, "qemu-hexagon")
	b := require.V(program(t).ELF())(t)
	path := filepath.Join(t.TempDir(), "prog")
	require.NoError(t, os.WriteFile(path, b, 0o755))
	got := require.V(exec.Command("qemu-hexagon", path).Output())(t)
	var want []byte
	for i := range 128 {
		want = append(want, byte(i*7)+byte((i+128)*7))
	}
	want = append(want, 0, 7, 14)
	if !bytes.Equal(got, want) {
		t.Errorf("got %x\nwant %x", got, want)
	}
}
