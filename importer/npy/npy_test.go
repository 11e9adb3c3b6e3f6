package npy

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestRoundTrip: written arrays read back the same.
func TestRoundTrip(t *testing.T) {
	for _, a := range []Array{
		{Descr: "<f4", Shape: []int{2, 3}, Data: make([]byte, 24)},
		{Descr: "|u1", Shape: []int{5}, Data: []byte{1, 2, 3, 4, 5}},
		{Descr: "<f8", Shape: []int{}, Data: []byte("eightbyt")},
		{Descr: "<i2", Shape: []int{0, 4}, Data: []byte{}},
	} {
		var b bytes.Buffer
		require.NoError(t, a.Write(&b))
		got := require.V(Parse(b.Bytes()))(t)
		require.Equal(t, &a, got)
		if at := b.Len() - len(a.Data); at%64 != 0 {
			t.Errorf("elements begin at byte %d", at)
		}
	}
}

// TestErrors: unsupported files are refused by name.
func TestErrors(t *testing.T) {
	file := func(header string, n int) []byte {
		out := append([]byte(magic), 1, 0, byte(len(header)), 0)
		return append(append(out, header...), make([]byte, n)...)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, "does not begin"},
		{[]byte(magic), "truncated"},
		{append([]byte(magic), 9, 0, 1, 0, 0, 0), "version 9"},
		{file("{", 0)[:11], "truncated"},
		{file("{'descr': '<f4'}", 0), "lacks"},
		{file("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", 4), "column-major"},
		{file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4), "big-endian"},
		{file("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 4), `"|O"`},
		{file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 8), "8 bytes of elements"},
		{file("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295, 4294967295, 4294967295)}", 8), "shape"},
	} {
		require.ErrorContains(t, require.Err(Parse(c.data)), c.want, c.data)
	}
}

// FuzzParse: no input makes Parse panic, and an accepted array has the bytes of its shape.
func FuzzParse(f *testing.F) {
	var b bytes.Buffer
	require.NoError(f, (&Array{Descr: "<f4", Shape: []int{1, 2}, Data: make([]byte, 8)}).Write(&b))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Parse(data)
		if err != nil {
			return
		}
		n := require.V(a.ElementBytes())(t)
		for _, d := range a.Shape {
			n *= d
		}
		if n != len(a.Data) {
			t.Fatalf("shape %v of %s with %d bytes", a.Shape, a.Descr, len(a.Data))
		}
	})
}
