package codeobject_test

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// part is an entry of a bundle to make.
type part struct {
	target string
	data   []byte
}

// bundle makes an offload bundle as clang-offload-bundler -bundle-align=64 does.
func bundle(parts ...part) []byte {
	u64 := binary.LittleEndian.AppendUint64
	head := 32
	for _, p := range parts {
		head += 24 + len(p.target)
	}
	b := u64([]byte("__CLANG_OFFLOAD_BUNDLE__"), uint64(len(parts)))
	at := (head + 63) &^ 63
	for _, p := range parts {
		b = append(u64(u64(u64(b, uint64(at)), uint64(len(p.data))), uint64(len(p.target))), p.target...)
		at = (at + len(p.data) + 63) &^ 63
	}
	for _, p := range parts {
		b = append(b, make([]byte, (len(b)+63)&^63-len(b))...)
		b = append(b, p.data...)
	}
	return b
}

// hostProgram is a 64-bit ELF file of x86-64 with a section .hip_fatbin.
func hostProgram(fat []byte) []byte {
	names := "\x00.hip_fatbin\x00.shstrtab\x00"
	le := binary.LittleEndian
	h := make([]byte, 64)
	copy(h, "\x7fELF\x02\x01\x01")
	le.PutUint16(h[16:], 2)
	le.PutUint16(h[18:], 62)
	le.PutUint32(h[20:], 1)
	le.PutUint64(h[40:], uint64(64+len(fat)+len(names)))
	le.PutUint16(h[52:], 64)
	le.PutUint16(h[58:], 64)
	le.PutUint16(h[60:], 3)
	le.PutUint16(h[62:], 2)
	h = append(append(h, fat...), names...)
	section := func(name, typ uint32, off, size int) {
		s := make([]byte, 64)
		le.PutUint32(s, name)
		le.PutUint32(s[4:], typ)
		le.PutUint64(s[24:], uint64(off))
		le.PutUint64(s[32:], uint64(size))
		h = append(h, s...)
	}
	section(0, 0, 0, 0)
	section(1, 1, 64, len(fat))
	section(13, 3, 64+len(fat), len(names))
	return h
}

func object(t testing.TB) []byte {
	u, err := asm.Assemble(text)
	require.NoError(t, err)
	f, err := u.Link()
	require.NoError(t, err)
	return require.V(f.ELF())(t)
}

// TestBundles: the code object for this GPU is found among those of a bundle, alone, in a program of the host's, and
// behind another bundle; what is not there is named.
func TestBundles(t *testing.T) {
	code := object(t)
	host := part{"host-x86_64-unknown-linux-gnu-", nil}
	other, ours := part{"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", []byte("other")}, part{"hipv4-amdgcn-amd-amdhsa--gfx1030", code}
	foreign := bundle(host, other)
	padded := append(foreign, make([]byte, 4096-len(foreign)%4096)...)
	for name, data := range map[string][]byte{
		"bundle": bundle(host, other, ours), "old kind": bundle(part{"hip-amdgcn-amd-amdhsa-gfx1030", code}),
		"compatible": bundle(part{"hipv4-amdgcn-amd-amdhsa--gfx1031", code}), "better one": bundle(part{"hipv4-amdgcn-amd-amdhsa--gfx1031", nil}, ours),
		"program": hostProgram(bundle(host, ours)), "behind": append(padded, bundle(ours)...),
	} {
		f, err := codeobject.Read(data)
		require.NoError(t, err, name)
		require.Check(t, len(f.Kernels) == 1, "%s: %d kernels", name, len(f.Kernels))
	}
	for want, data := range map[string][]byte{
		"code for gfx90a, this GPU runs gfx1030": foreign,
		"no code for a GPU":                      bundle(host),
		"2 code objects for gfx1030":             bundle(ours, ours),
		"compressed offload bundle":              []byte("CCOB\x02\x00\x01\x00"),
		"clang-offload-packager":                 []byte("\x10\xFF\x10\xAD\x01"),
		"offload bundle of text":                 []byte("# __CLANG_OFFLOAD_BUNDLE____START__ hip-amdgcn-amd-amdhsa--gfx1030\n"),
		"table of entries is truncated":          bundle(ours)[:40],
		"no ELF file":                            []byte("code"),
		"bytes at":                               bundle(ours)[:200],
		"entries, at most":                       append([]byte("__CLANG_OFFLOAD_BUNDLE__"), 255, 255, 255, 255, 255, 255, 255, 255),
	} {
		_, err := codeobject.Read(data)
		require.Check(t, err != nil, "%s", want)
		require.ErrorContains(t, err, want)
	}
}

// FuzzBundle: no bundle makes Read panic or grow without bound.
func FuzzBundle(f *testing.F) {
	code := object(f)
	f.Add(bundle(part{"hipv4-amdgcn-amd-amdhsa--gfx1030", code}))
	f.Add(hostProgram(bundle(part{"hipv4-amdgcn-amd-amdhsa--gfx1030", code})))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = codeobject.Read(data)
	})
}
