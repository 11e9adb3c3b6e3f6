package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"

	"github.com/nnsoc/nnsoc/internal/try"
)

// instances is the part of a COCO file about objects; everything else in it is skipped.
type instances struct {
	images      []imageRecord
	annotations []annotation
	categories  []category
}

type imageRecord struct {
	ID     int64   `json:"id"`
	File   string  `json:"file_name"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

type annotation struct {
	Image    int64      `json:"image_id"`
	Category int        `json:"category_id"`
	Box      [4]float64 `json:"bbox"`
	Crowd    int        `json:"iscrowd"`
}

type category struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// Bounds of a file of COCO. That of the 118,287 pictures to train with has 448 MiB and
// 860,001 annotations.
const (
	maxCOCO        = 1 << 30
	maxAnnotations = 1 << 23
)

// readInstances reads a file element by element: the outlines of objects, most of its
// bytes, are not kept.
func readInstances(path string) (*instances, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() > maxCOCO {
		return nil, fmt.Errorf("%d MiB, at most %d are read", info.Size()>>20, maxCOCO>>20)
	}
	x := &instances{}
	d := json.NewDecoder(io.LimitReader(f, maxCOCO))
	if err := x.decode(d); err != nil {
		return nil, fmt.Errorf("byte %d: %w", d.InputOffset(), err)
	}
	return x, nil
}

func (x *instances) decode(d *json.Decoder) (err error) {
	defer try.Catch(&err)
	try.E(expectDelim(d, json.Delim('{')))
	for d.More() {
		key := try.V(d.Token())
		switch key {
		case "images":
			x.images, err = elements(d, x.images, maxSamples)
		case "annotations":
			x.annotations, err = elements(d, x.annotations, maxAnnotations)
		case "categories":
			x.categories, err = elements(d, x.categories, maxSamples)
		default:
			err = skip(d)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	try.E(expectDelim(d, json.Delim('}')))
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one object")
	}
	return nil
}

// expectDelim reads a token and fails unless it is the given delimiter.
func expectDelim(d *json.Decoder, token json.Delim) error {
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && t != token {
		err = fmt.Errorf("%v, want %v", t, token)
	}
	return err
}

// elements appends the elements of a list.
func elements[T any](d *json.Decoder, list []T, limit int) ([]T, error) {
	if err := expectDelim(d, json.Delim('[')); err != nil {
		return list, err
	}
	for d.More() {
		var x T
		if err := d.Decode(&x); err != nil {
			return list, fmt.Errorf("element %d: %w", len(list), err)
		}
		if list = append(list, x); len(list) > limit {
			return list, fmt.Errorf("more than %d elements", limit)
		}
	}
	return list, expectDelim(d, json.Delim(']'))
}

// skip passes a value.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// openCOCO reads an instances file of COCO: boxes are x, y, width and height in pixels. Categories keep their ids, or
// have the index of their name in the labels.
func openCOCO(path string, o *Options) (*Set, error) {
	file, err := readInstances(path)
	if err != nil {
		return nil, err
	}
	class := map[int]int{}
	for _, c := range file.categories {
		class[c.ID] = c.ID
		if k, ok := o.class(c.Name); ok {
			class[c.ID] = k
		}
	}
	index := map[int64]int{}
	var samples []sample
	for i, m := range file.images {
		if _, twice := index[m.ID]; twice || m.File == "" || !(m.Width > 0 && m.Height > 0) {
			return nil, fmt.Errorf("images[%d]: want a distinct id, file_name, width and height", i)
		}
		index[m.ID] = len(samples)
		picture := listedPath(path, m.File)
		if !exists(picture) {
			picture = filepath.Join(filepath.Dir(path), "images", filepath.FromSlash(m.File))
		}
		samples = append(samples, sample{name: m.File, path: picture, class: -1, size: [2]float64{m.Width, m.Height}})
	}
	for i, a := range file.annotations {
		at, ok := index[a.Image]
		if !ok {
			return nil, fmt.Errorf("annotations[%d]: no image has id %d", i, a.Image)
		}
		k, ok := class[a.Category]
		if !ok && len(file.categories) > 0 {
			return nil, fmt.Errorf("annotations[%d]: no category has id %d", i, a.Category)
		} else if !ok {
			k = a.Category
		}
		b := a.Box
		if !(b[2] >= 0 && b[3] >= 0) || math.IsNaN(b[0]+b[1]) {
			return nil, fmt.Errorf("annotations[%d]: box %v", i, b)
		}
		samples[at].boxes = append(samples[at].boxes, Box{k, b[0], b[1], b[0] + b[2], b[1] + b[3], a.Crowd != 0})
	}
	sort.SliceStable(samples, func(i, j int) bool { return samples[i].name < samples[j].name })
	return fromFiles(samples, o)
}
