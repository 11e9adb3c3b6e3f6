package dataset

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

func options(t nn.OperandType, dims ...uint32) Options {
	return Options{Inputs: []int{0}, Labels: []string{"cat", "dog"}, Model: &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{{Type: t, Dimensions: dims, Scale: 0.5, ZeroPoint: 10}, {Type: nn.TensorFloat32, Dimensions: []uint32{2}}},
		Inputs:   []uint32{0}, Outputs: []uint32{1},
	}}}
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return path
}

func array(t *testing.T, descr string, data []byte, shape ...int) []byte {
	var b bytes.Buffer
	a := npy.Array{Descr: descr, Shape: shape, Data: data}
	require.NoError(t, a.Write(&b))
	return b.Bytes()
}

func archive(t *testing.T, dir string, files map[string][]byte) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w := require.V(z.Create(name))(t)
		w.Write(data)
	}
	require.NoError(t, z.Close())
	return write(t, filepath.Join(dir, "set.npz"), b.Bytes())
}

// TestFolders: a folder per class, by label or number, in order of names.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "dog", "x"), []byte{1, 2})
	write(t, filepath.Join(dir, "cat", "y"), []byte{3, 4})
	s := require.V(Open(dir, options(nn.TensorQuant8Asymm, 2)))(t)
	for i, want := range []struct {
		name  string
		class int
	}{{"cat/y", 0}, {"dog/x", 1}} {
		in, truth, err := s.Sample(i)
		if err != nil || s.Name(i) != want.name || truth.Class != want.class || len(in) != 1 || len(in[0]) != 2 {
			t.Errorf("sample %d: %s %+v %v, error %v", i, s.Name(i), truth, in, err)
		}
	}
}

// TestLinkedFolders: links count as their targets, and hidden files not at all.
func TestLinkedFolders(t *testing.T) {
	dir, away := t.TempDir(), t.TempDir()
	link := func(from, to string) {
		t.Helper()
		require.NoError(t, os.Symlink(from, to))
	}
	write(t, filepath.Join(dir, "cat", "x"), []byte{1, 2})
	link(write(t, filepath.Join(away, "picture"), []byte{3, 4}), filepath.Join(dir, "cat", "y"))
	write(t, filepath.Join(away, "dogs", "z"), []byte{5, 6})
	link(filepath.Join(away, "dogs"), filepath.Join(dir, "dog"))
	link("/no/such/file", filepath.Join(dir, "cat", ".hidden"))
	s, err := Open(dir, options(nn.TensorQuant8Asymm, 2))
	if err != nil || s.Len() != 3 || s.Name(1) != "cat/y" || s.Name(2) != "dog/z" {
		t.Fatalf("%+v, error %v", s, err)
	}
	link("/no/such/file", filepath.Join(dir, "cat", "lost"))
	require.ErrorContains(t, require.Err(Open(dir, options(nn.TensorQuant8Asymm, 2))), "lost", "a link to nowhere")
}

// TestFoldersWithoutLabels: all names are numbers or none is; one among others would shift the classes after it.
func TestFoldersWithoutLabels(t *testing.T) {
	for _, c := range []struct {
		folders []string
		classes []int
		want    string
	}{
		{[]string{"10", "9"}, []int{10, 9}, ""},
		{[]string{"a", "b"}, []int{0, 1}, ""},
		{[]string{"10", "9", "thumbs"}, nil, `folder "thumbs" is no number`},
		{[]string{"-1", "0"}, nil, `folder "-1" is no number`},
	} {
		dir := t.TempDir()
		for _, f := range c.folders {
			write(t, filepath.Join(dir, f, "x"), []byte{1, 2})
		}
		o := options(nn.TensorQuant8Asymm, 2)
		o.Labels = nil
		s, err := Open(dir, o)
		if c.want != "" {
			require.ErrorContains(t, err, c.want, c.folders)
			continue
		}
		require.NoError(t, err)
		for i, class := range c.classes {
			if _, truth, err := s.Sample(i); err != nil || truth.Class != class {
				t.Errorf("%v: %s is of class %d, error %v", c.folders, s.Name(i), truth.Class, err)
			}
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a b.bin"), []byte{1, 2})
	write(t, filepath.Join(dir, "want.bin"), []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})
	path := write(t, filepath.Join(dir, "set.txt"), []byte("\ufeff# comment\na b.bin\tthe quick fox\n\na b.bin dog\na b.bin\twant.bin\n"))
	s, err := Open(path, options(nn.TensorQuant8Asymm, 2))
	if err != nil || s.Len() != 3 {
		t.Fatalf("%v samples, error %v", s, err)
	}
	_, text, err := s.Sample(0)
	require.Check(t, err == nil && text.Text == "the quick fox" && text.Class == -1, "%+v, error %v", text, err)
	if _, class, err := s.Sample(1); err != nil || class.Class != 1 {
		t.Errorf("%+v, error %v", class, err)
	}
	if _, file, err := s.Sample(2); err != nil || len(file.Values) != 1 || file.Values[0][0] != 1 || file.Values[0][1] != 2 {
		t.Errorf("%+v, error %v", file, err)
	}
}

// TestArrays: floats are quantized, integers are elements.
func TestArrays(t *testing.T) {
	floats := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0x3f} // 1 -32 0 0.5
	path := archive(t, t.TempDir(), map[string][]byte{"x.npy": array(t, "<f4", floats, 2, 2), "y.npy": array(t, "<i8", []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 2)})
	s := require.V(Open(path, options(nn.TensorQuant8Asymm, 2)))(t)
	in, truth, err := s.Sample(0)
	require.Check(t, err == nil && bytes.Equal(in[0], []byte{12, 0}) && truth.Class == 1, "%v %+v, error %v", in, truth, err)
	if in, _, err = s.Sample(1); err != nil || !bytes.Equal(in[0], []byte{10, 11}) {
		t.Errorf("%v, error %v", in, err)
	}
}

func TestCOCO(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "images", "p.bin"), []byte{1, 2})
	path := write(t, filepath.Join(dir, "instances.json"), []byte(`{"images": [{"id": 4, "file_name": "p.bin", "width": 10, "height": 20}],
		"annotations": [{"image_id": 4, "category_id": 9, "bbox": [1, 2, 3, 4]}, {"image_id": 4, "category_id": 9, "bbox": [0, 0, 1, 1], "iscrowd": 1}],
		"categories": [{"id": 9, "name": "dog"}]}`))
	s := require.V(Open(path, options(nn.TensorQuant8Asymm, 2)))(t)
	_, truth, err := s.Sample(0)
	if err != nil || len(truth.Boxes) != 2 || truth.Boxes[0] != (Box{Class: 1, X0: 1, Y0: 2, X1: 4, Y1: 6}) || !truth.Boxes[1].Crowd || truth.Size != [2]float64{10, 20} {
		t.Errorf("%+v, error %v", truth, err)
	}
}

// vast is a file that is large and has nothing in it.
func vast(t *testing.T, path string, size int64) string {
	t.Helper()
	write(t, path, nil)
	require.NoError(t, os.Truncate(path, size))
	return path
}

// TestHash: the hash changes with names, truths and arrays.
func TestHash(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]string{}
	for _, path := range []string{
		write(t, filepath.Join(dir, "a.txt"), []byte("x 1\ny 2\n")), write(t, filepath.Join(dir, "b.txt"), []byte("x 1\ny 3\n")),
		write(t, filepath.Join(dir, "c.txt"), []byte("x 1\nz 2\n")),
		write(t, filepath.Join(dir, "d.json"), []byte(`{"images": [{"id": 1, "file_name": "x", "width": 1, "height": 2}]}`)),
		write(t, filepath.Join(dir, "e.json"), []byte(`{"images": [{"id": 1, "file_name": "x", "width": 1, "height": 2}], "annotations": [{"image_id": 1, "bbox": [0, 0, 1, 1]}]}`)),
		archive(t, filepath.Join(dir, "f"), map[string][]byte{"x.npy": array(t, "|u1", []byte{1, 2}, 1, 2), "y.npy": array(t, "|u1", []byte{1}, 1)}),
		archive(t, filepath.Join(dir, "g"), map[string][]byte{"x.npy": array(t, "|u1", []byte{1, 3}, 1, 2), "y.npy": array(t, "|u1", []byte{1}, 1)}),
	} {
		for range 2 {
			s := require.V(Open(path, options(nn.TensorQuant8Asymm, 2)))(t)
			if of, ok := seen[s.Hash()]; ok && of != path {
				t.Errorf("%s has the hash of %s", path, of)
			}
			seen[s.Hash()] = path
		}
	}
	require.Check(t, len(seen) == 7, "%d hashes of 7 sets", len(seen))
}

// TestHostile: the error names the defect and its place.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	one := []byte{1, 2}
	for i, c := range []struct{ path, want string }{
		{dir, "neither folders of classes nor labels.txt"},
		{write(t, filepath.Join(dir, "e.txt"), nil), "no samples"},
		{write(t, filepath.Join(dir, "f.txt"), []byte("a 1\nb\n")), `line 2: "b" is not FILE and TRUTH`},
		{write(t, filepath.Join(dir, "g.npz"), []byte("no archive")), "not a valid zip file"},
		{archive(t, filepath.Join(dir, "1"), map[string][]byte{"z.npy": array(t, "|u1", one, 1, 2)}), "it has arrays z; want 1 of x, "},
		{archive(t, filepath.Join(dir, "2"), map[string][]byte{"x.npy": array(t, "|u1", one, 1, 2), "y.npy": array(t, "|u1", one, 2)}), "the first axis counts samples"},
		{archive(t, filepath.Join(dir, "3"), map[string][]byte{"x.npy": one}), "x.npy: npy: "},
		{archive(t, filepath.Join(dir, "4"), map[string][]byte{"x.npy": array(t, "<c8", make([]byte, 8), 1, 1), "y.npy": array(t, "|u1", one, 2)}), `elements "<c8"`},
		{write(t, filepath.Join(dir, "h.json"), []byte(`{"images": [{"id": 1}]}`)), "images[0]: want"},
		{write(t, filepath.Join(dir, "i.json"), []byte(`{"images": [], "annotations": [{"image_id": 3}]}`)), "annotations[0]: no image has id 3"},
		{write(t, filepath.Join(dir, "j.bin"), nil), "want a folder, .npz"},
		{write(t, filepath.Join(dir, "k.json"), []byte(`{"images": [{"id": 1, "file_name": "a", "width": 1e999, "height": 1}]}`)), "byte 68: images: element 0: json: cannot unmarshal number 1e999"},
		{write(t, filepath.Join(dir, "l.json"), []byte(`{"images": []} {}`)), "more than one object"},
		{write(t, filepath.Join(dir, "m.json"), []byte(`{"info": `+strings.Repeat(`[{"a":`, 1<<16))), "info: unexpected EOF"},
		{write(t, filepath.Join(dir, "n.json"), []byte(`{"images": {}}`)), "images: {, want ["},
		{vast(t, filepath.Join(dir, "o.json"), maxCOCO+1<<20), "1025 MiB, at most 1024 are read"},
		{vast(t, filepath.Join(dir, "p.txt"), maxList+1<<20), "65 MiB, at most 64 are read"},
		{archive(t, filepath.Join(dir, "5"), map[string][]byte{"x.npy": array(t, "|u1", one, 1, 2)[:60], "y.npy": array(t, "|u1", one, 2)}), "x.npy: npy: truncated header"},
	} {
		if i == 0 {
			c.path = t.TempDir()
		}
		require.ErrorContains(t, require.Err(Open(c.path, options(nn.TensorQuant8Asymm, 2))), c.want, c.path)
	}
}
