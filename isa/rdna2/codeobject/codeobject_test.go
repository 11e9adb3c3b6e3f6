package codeobject_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

const text = `
	.globl k
	.type k,@function
k:	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+4
	s_addc_u32 s5, s5, table@rel32@hi+12
	s_endpgm
	.section .rodata,"a"
table:	.long 7
	.data
pointer: .quad table
	.amdhsa_kernel k
	.amdhsa_next_free_vgpr 24
	.amdhsa_kernarg_size 16
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .name:           x
        .offset:         0
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .value_kind:     hidden_block_count_x
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 64
    .name:           k
    .reqd_workgroup_size:
      - 8
      - 4
      - 2
    .symbol:         k.kd
    .wavefront_size: 32
...
	.end_amdgpu_metadata
`

func link(t testing.TB, src string) *codeobject.File {
	t.Helper()
	u := require.V(asm.Assemble(src))(t)
	f := require.V(u.Link())(t)
	return f
}

// TestRoundTrip: a written file reads back with its kernels, metadata, symbols
// and relocations.
func TestRoundTrip(t *testing.T) {
	f := link(t, text)
	data := require.V(f.ELF())(t)
	g := require.V(codeobject.Read(data))(t)
	first := f.Segments[1].Addr
	if want := []codeobject.Line{{Addr: first, Line: 4}, {Addr: first + 4, Line: 5}, {Addr: first + 12, Line: 6}, {Addr: first + 20, Line: 7}}; !slices.Equal(f.Lines, want) || f.Line(first+12) != 6 || f.Line(first+13) != 0 {
		t.Errorf("lines %v, want %v", f.Lines, want)
	}
	if d := cmp.Diff(f, g, cmpopts.IgnoreUnexported(codeobject.File{}), cmpopts.IgnoreFields(codeobject.File{}, "Lines")); d != "" {
		t.Error(d)
	}
	k := require.V(g.Kernel("k"))(t)
	want := &codeobject.Meta{
		Name: "k", Symbol: "k.kd", KernargBytes: 16, MaxWorkgroup: 64, Workgroup: [3]int{8, 4, 2}, WaveSize: 32,
		Args: []codeobject.Arg{{Name: "x", Type: "float*", Bytes: 8, Kind: "global_buffer"}, {Offset: 8, Bytes: 4, Kind: "hidden_block_count_x"}},
	}
	require.Equal(t, want, k.Meta)
	if !k.Meta.Args[1].Hidden() || k.Meta.Args[0].Hidden() {
		t.Error("hidden arguments are not told from explicit ones")
	}
	const base = 0x7C00_0000_0000
	segs := require.V(g.Load(base))(t)
	var table uint64
	for _, s := range g.Symbols {
		if s.Name == "table" {
			table = s.Addr
		}
	}
	found := false
	for _, s := range segs {
		if s.Write {
			found = binary.LittleEndian.Uint64(s.Data) == base+table
		}
	}
	if !found || table == 0 {
		t.Error("the pointer does not hold the address of the table")
	}
	// The literal leads from after s_getpc to the table.
	code := g.Code(k.Entry)
	at := k.Entry - code.Addr
	if d := int32(binary.LittleEndian.Uint32(code.Data[at+8:])); k.Entry+4+uint64(int64(d)) != table {
		t.Errorf("the literal %d does not lead to the table", d)
	}
}

// TestReadErrors: files that cannot run are refused by name.
func TestReadErrors(t *testing.T) {
	good := require.V(link(t, text).ELF())(t)
	edit := func(f func(b []byte)) []byte {
		b := bytes.Clone(good)
		f(b)
		return b
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, "no ELF file"},
		{[]byte("hello"), "no ELF file"},
		{good[:100], "codeobject: "},
		{edit(func(b []byte) { b[18] = byte(elf.EM_X86_64); b[19] = 0 }), "want a 64-bit one for AMDGPU"},
		{edit(func(b []byte) { b[7] = 0 }), "OS ABI 0"},
		{edit(func(b []byte) { b[8] = 9 }), "ABI version 9"},
		{edit(func(b []byte) { b[48] = 0x41 }), "code for gfx1100, this GPU runs gfx1030"},
		{edit(func(b []byte) { b[16] = byte(elf.ET_EXEC) }), "ELF type"},
	} {
		require.ErrorContains(t, require.Err(codeobject.Read(c.data)), c.want)
	}
}

// TestUndefined: a symbol that no one defines is named, with a remedy.
func TestUndefined(t *testing.T) {
	u := require.V(asm.Assemble("k: s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, get_global_id@rel32@lo+4\n"))(t)
	require.ErrorContains(t, require.Err(u.Link()), "undefined symbol get_global_id: link a device library")
}

// FuzzRead: no file makes Read, Load or List panic.
func FuzzRead(f *testing.F) {
	good := require.V(link(f, text).ELF())(f)
	f.Add(good)
	f.Add(good[:200])
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		file, err := codeobject.Read(data)
		if err != nil {
			return
		}
		total := 0
		for _, s := range file.Segments {
			total += len(s.Data)
		}
		if total > 1<<20 {
			return // slow
		}
		if _, err := file.Load(1 << 40); err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, file.List(&b))
	})
}
