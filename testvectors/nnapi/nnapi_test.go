package nnapi

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestCorpus: the archive is whole. The counts are those of the set that was packed.
func TestCorpus(t *testing.T) {
	cases, names := 0, map[string]bool{}
	for _, name := range Names() {
		text := require.V(Read(name))(t)
		f, err := vectors.Read(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := f.Version + "__" + f.Name + ".json"; !strings.EqualFold(name, want) {
			t.Errorf("%s holds %s", name, want)
		}
		for _, c := range f.Cases {
			require.Check(t, !names[c.Name], "%s: a second case %s", name, c.Name)
			names[c.Name] = true
		}
		cases += len(f.Cases)
	}
	if len(Names()) != 437 || cases != 6640 {
		t.Errorf("%d documents with %d cases, want 437 with 6640", len(Names()), cases)
	}
}

func TestReadUnknown(t *testing.T) {
	if _, err := Read("V1_0__nothing.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that it does not exist", err)
	}
}

func TestDamagedArchive(t *testing.T) {
	for _, n := range []int{0, 4, len(archive) / 2, len(archive) - 8} {
		damaged := bytes.Clone(archive)
		damaged[n] ^= 0xff
		require.Fails(t, require.Err(unpack(damaged)), "byte", n, "changed")
		if n > 0 {
			require.Fails(t, require.Err(unpack(archive[:n])), "cut at", n)
		}
	}
}
