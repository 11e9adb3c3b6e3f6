package npy

import (
	"archive/zip"
	"bytes"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func archive(t testing.TB, list ...Named) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteArchive(&b, list))
	return b.Bytes()
}

func sample() []Named {
	return []Named{
		{"x", &Array{Descr: "<f4", Shape: []int{1, 2}, Data: []byte{0, 0, 128, 63, 0, 0, 0, 64}}},
		{"a/b", &Array{Descr: "|u1", Shape: []int{}, Data: []byte{7}}},
	}
}

func TestArchive(t *testing.T) {
	data := archive(t, sample()...)
	require.Check(t, IsArchive(data) && !IsArchive([]byte("PK")), "IsArchive")
	list, err := ParseArchive(data)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for i, want := range sample() {
		if g := list[i]; g.Name != want.Name || g.Descr != want.Descr || !slices.Equal(g.Shape, want.Shape) || !bytes.Equal(g.Data, want.Data) {
			t.Errorf("array %d is %+v, want %+v", i, g.Array, want.Array)
		}
	}
}

// TestHostileArchive: wrong names, no arrays, and zeros that expand to more than fits.
func TestHostileArchive(t *testing.T) {
	packed := func(name string, n int) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		f := require.V(z.Create(name))(t)
		block := make([]byte, 1<<20)
		for ; n > 0; n -= len(block) {
			f.Write(block[:min(n, len(block))])
		}
		z.Close()
		return b.Bytes()
	}
	for want, data := range map[string][]byte{
		"no arrays": archive(t), "is no .npy file": packed("x.txt", 3), "does not begin": packed("x.npy", 3), "more than 256 MiB": packed("x.npy", maxBytes+1),
		"zip": []byte("PK\x03\x04 and no archive"),
	} {
		require.ErrorContains(t, require.Err(ParseArchive(data)), want)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(archive(f, sample()...))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseArchive(data)
		for _, a := range list {
			if n, e := a.ElementBytes(); err == nil && (e != nil || len(a.Data)%n != 0) {
				t.Fatalf("%q: %v, %d bytes", a.Name, e, len(a.Data))
			}
		}
	})
}
