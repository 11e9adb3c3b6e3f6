// Package dataset reads data sets in the layouts people have them in:
//
//	DIR/CLASS/picture   a folder per class; its name is a number, a label or,
//	                    without labels, its place in alphabetical order
//	DIR/labels.txt      beside files: lines "FILE CLASS" (val.txt, list.txt too)
//	FILE.npz            arrays x (or x0, x1 ...) and y, samples along the first axis
//	FILE.json           COCO: images and annotations, pictures beside it or in
//	                    images/
//	FILE.txt            lines "FILE<TAB>TRUTH", the truth a class, a text or a file
//
// Samples are read one at a time. Errors name file and line, array or entry.
package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// Truth is the ground truth of a sample.
type Truth struct {
	Class  int         // -1 when it has none
	Text   string      // a transcription
	Values [][]float64 // per output, real values
	Boxes  []Box
	Size   [2]float64 // width and height that boxes are in
}

// Box is an object: corners in pixels of the picture, or relative to it.
type Box struct {
	Class          int
	X0, Y0, X1, Y1 float64
	Crowd          bool // represents many; neither found nor missed
}

// Set is a data set.
type Set struct {
	samples []sample
	read    func(i int) ([][]byte, Truth, error)
	hash    string
}

type sample struct {
	name, path, truth string
	class             int
	boxes             []Box
	size              [2]float64
}

// Options define how files become inputs.
type Options struct {
	Model         *nn.Model
	Inputs        []int // positions of the inputs that samples provide
	Normalization tensor.Normalization
	Labels        []string // name of each class; nil for none
}

// Bounds of the data read into memory.
const (
	maxList    = 64 << 20
	maxSamples = 1 << 22
)

// Open opens a data set. It finds the layout, and reads lists but no samples.
func Open(path string, o Options) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var s *Set
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case info.IsDir():
		s, err = openFolder(path, &o)
	case ext == ".npz":
		s, err = openArrays(path, &o)
	case ext == ".json":
		s, err = openCOCO(path, &o)
	case ext == ".txt" || ext == ".tsv" || ext == ".lst":
		s, err = openList(path, &o)
	default:
		return nil, fmt.Errorf("dataset: %s: want a folder, .npz, COCO .json or a .txt list", path)
	}
	if err == nil && s.Len() == 0 {
		err = errors.New("no samples")
	}
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", path, err)
	}
	return s, nil
}

// Len is the number of samples.
func (s *Set) Len() int { return len(s.samples) }

// Name identifies sample i within the set.
func (s *Set) Name(i int) string { return s.samples[i].name }

// Hash identifies names and truths of the samples, and the contents of arrays; the content of a sample's file is not
// part of it.
func (s *Set) Hash() string { return s.hash }

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:12]) }

// Sample reads the inputs and the truth of sample i.
func (s *Set) Sample(i int) (inputs [][]byte, t Truth, err error) {
	if inputs, t, err = s.read(i); err != nil {
		return nil, t, fmt.Errorf("dataset: sample %d (%s): %w", i, s.Name(i), err)
	}
	return inputs, t, nil
}

// class is the class of a name.
func (o *Options) class(name string) (int, bool) {
	if k := slices.Index(o.Labels, name); k >= 0 {
		return k, true
	}
	k, err := strconv.Atoi(name)
	return k, err == nil && k >= 0
}

// one demands a model with a single input.
func (o *Options) one() (*nn.Operand, error) {
	if len(o.Inputs) != 1 {
		return nil, fmt.Errorf("one file per sample, but the model has %d inputs: use .npz", len(o.Inputs))
	}
	g := &o.Model.Main
	return &g.Operands[g.Inputs[o.Inputs[0]]], nil
}

// fromFiles is a set with a file per sample.
func fromFiles(samples []sample, o *Options) (*Set, error) {
	operand, err := o.one()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for i := range samples {
		x := &samples[i]
		fmt.Fprintf(h, "%q %q %d %v %v\n", x.name, x.truth, x.class, x.boxes, x.size)
	}
	s := &Set{samples: samples, hash: sum(h)}
	s.read = func(i int) ([][]byte, Truth, error) {
		x := &samples[i]
		t := Truth{Class: x.class, Boxes: x.boxes, Size: x.size, Text: x.truth}
		b, err := tensor.Read(x.path, operand, o.Normalization)
		return [][]byte{b}, t, err
	}
	return s, nil
}

// lists are the names of label files in a folder of samples.
var lists = []string{"labels.txt", "val.txt", "list.txt"}

func openFolder(dir string, o *Options) (*Set, error) {
	for _, name := range lists {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return openList(filepath.Join(dir, name), o)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, e := range entries {
		if mode, err := modeOf(dir, e); err != nil {
			return nil, err
		} else if mode.IsDir() {
			folders = append(folders, e.Name())
		}
	}
	if len(folders) == 0 {
		return nil, fmt.Errorf("neither folders of classes nor %s", strings.Join(lists, ", "))
	}
	named, other := 0, ""
	for _, f := range folders {
		if _, ok := o.class(f); ok {
			named++
		} else {
			other = f
		}
	}
	switch {
	case other != "" && o.Labels != nil:
		return nil, fmt.Errorf("folder %q is neither a number nor one of the %d labels", other, len(o.Labels))
	case other != "" && named > 0:
		return nil, fmt.Errorf("folder %q is no number as others are", other)
	}
	var samples []sample
	for k, f := range folders {
		class := k
		if named > 0 {
			class, _ = o.class(f)
		}
		files, err := os.ReadDir(filepath.Join(dir, f))
		if err != nil {
			return nil, err
		}
		for _, e := range files {
			if mode, err := modeOf(filepath.Join(dir, f), e); err != nil {
				return nil, err
			} else if mode.IsRegular() {
				samples = append(samples, sample{name: f + "/" + e.Name(), path: filepath.Join(dir, f, e.Name()), class: class})
			}
		}
		if len(samples) > maxSamples {
			return nil, fmt.Errorf("more than %d samples", maxSamples)
		}
	}
	return fromFiles(samples, o)
}

// modeOf is the mode of an entry of a folder, or of its link's target. A hidden one is ignored.
func modeOf(dir string, e os.DirEntry) (fs.FileMode, error) {
	if strings.HasPrefix(e.Name(), ".") {
		return fs.ModeIrregular, nil
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type(), nil
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	if err != nil {
		return 0, err
	}
	return info.Mode(), nil
}

// openList reads lines "FILE TRUTH"; blank lines and those that begin with # are
// left out. Paths are relative to the list.
func openList(path string, o *Options) (_ *Set, err error) {
	defer try.Catch(&err)
	f := try.V(os.Open(path))
	defer f.Close()
	var samples []sample
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() > maxList {
		return nil, fmt.Errorf("%d MiB, at most %d are read", info.Size()>>20, maxList>>20)
	}
	in := bufio.NewScanner(io.LimitReader(f, maxList))
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		file, truth, ok := strings.Cut(line, "\t")
		if !ok {
			if at := strings.LastIndexByte(line, ' '); at > 0 {
				file, truth, ok = line[:at], line[at+1:], true
			}
		}
		if file, truth = strings.TrimSpace(file), strings.TrimSpace(truth); !ok || file == "" || truth == "" {
			return nil, fmt.Errorf("line %d: %q is not FILE and TRUTH", n, line)
		}
		x := sample{name: file, path: listedPath(path, file), truth: truth, class: -1}
		if k, ok := o.class(truth); ok {
			x.class = k
		}
		if samples = append(samples, x); len(samples) > maxSamples {
			return nil, fmt.Errorf("more than %d samples", maxSamples)
		}
	}
	try.E(in.Err())
	s := try.V(fromFiles(samples, o))
	inputs := s.read
	s.read = func(i int) ([][]byte, Truth, error) {
		b, t, err := inputs(i)
		if err != nil || t.Class >= 0 || len(o.Model.Main.Outputs) != 1 {
			return b, t, err
		}
		// A truth that is a file is the expected output.
		if file := listedPath(path, samples[i].truth); exists(file) {
			out := &o.Model.Main.Operands[o.Model.Main.Outputs[0]]
			want, err := tensor.Read(file, out, o.Normalization)
			if err != nil {
				return b, t, err
			}
			t.Values = [][]float64{Real(out, want)}
		}
		return b, t, nil
	}
	return s, nil
}

// listedPath resolves a path in a list relative to the list's folder.
func listedPath(list, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(list), filepath.FromSlash(file))
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
