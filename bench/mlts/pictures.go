package mlts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // decoders register themselves
	_ "image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "golang.org/x/image/bmp"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// preprocessors convert pixels 0 to 255 to real values of an input, by name.
var preprocessors = map[string]func(pixel float64) float64{
	"MobilenetV1": func(pixel float64) float64 { return (pixel - 127.5) / 127.5 },
}

func preprocessorNames() []string { return slices.Sorted(maps.Keys(preprocessors)) }

// maxPixels bounds a picture.
const maxPixels = 64 << 20

// images reads the images of a folder in the order of their names, with a class each.
func (l *List) images(m *Model, net *nn.Model) (_ *TestSet, err error) {
	defer try.Catch(&err)
	d := m.Dataset
	dir := try.V(l.file(d.InputPath))
	entries := try.V(os.ReadDir(dir))
	var files []string
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) > maxSteps {
		return nil, fmt.Errorf("%s: %d pictures, at most %d", d.InputPath, len(files), maxSteps)
	}
	classes := try.V(l.classes(d, len(files)))
	o := try.V(inputOf(net))
	t := &TestSet{Steps: len(files)}
	for range files {
		t.lengths = append(t.lengths, 1)
	}
	t.sequence = func(i int) ([]Input, error) {
		b, err := readBounded(files[i], maxFileBytes)
		if err != nil {
			return nil, err
		}
		data, err := preprocess(b, m.InputSize[1], o.Type, preprocessors[d.Preprocessor])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files[i], err)
		}
		return []Input{{Data: data, Class: classes[i]}}, nil
	}
	return t, nil
}

// classes are the expected classes of n pictures: a label each.
func (l *List) classes(d *Dataset, n int) ([]int, error) {
	labels, err := l.lines(d.Labels)
	if err != nil {
		return nil, err
	}
	index := map[string]int{}
	for i, name := range labels {
		if _, twice := index[name]; !twice {
			index[name] = i
		}
	}
	truth, err := l.lines(d.GroundTruth)
	if err != nil {
		return nil, err
	}
	if len(truth) != n {
		return nil, fmt.Errorf("%s: %d lines for %d pictures", d.GroundTruth, len(truth), n)
	}
	list := make([]int, n)
	for i, name := range truth {
		k, ok := index[name]
		if !ok {
			return nil, fmt.Errorf("%s, line %d: %q is not in %s", d.GroundTruth, i+1, name, d.Labels)
		}
		list[i] = k
	}
	return list, nil
}

// lines reads the lines of a text file, without blanks around them and without an empty last one.
func (l *List) lines(name string) ([]string, error) {
	b, err := l.read(name)
	if err != nil {
		return nil, err
	}
	list := strings.Split(strings.TrimRight(string(b), "\r\n"), "\n")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list, nil
}

// preprocess makes an input of side x side pixels of three colours from a picture: the largest square in its middle,
// scaled. Quantized inputs hold the pixels unchanged.
func preprocess(b []byte, side int, t nn.OperandType, norm func(float64) float64) ([]byte, error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPixels/c.Height {
		return nil, fmt.Errorf("picture of %dx%d pixels", c.Width, c.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	r := img.Bounds()
	n := min(r.Dx(), r.Dy())
	x0, y0 := r.Min.X+(r.Dx()-n)/2, r.Min.Y+(r.Dy()-n)/2
	pixels := scale(img, image.Rect(x0, y0, x0+n, y0+n), side)
	return encodePixels(pixels, t, norm)
}

// encodePixels makes a tensor of type t of pixels 0 to 255.
func encodePixels(pixels []float64, t nn.OperandType, norm func(float64) float64) ([]byte, error) {
	var out []byte
	for _, p := range pixels {
		switch t {
		case nn.TensorFloat32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(norm(p))))
		case nn.TensorQuant8Asymm:
			out = append(out, byte(math.Round(p)))
		case nn.TensorQuant8AsymmSigned:
			out = append(out, byte(math.Round(p)-128))
		default:
			return nil, errors.New("pictures fit inputs of floats and of 8-bit quantized values, not " + t.String())
		}
	}
	return out, nil
}

// scale samples a square of a picture at side x side points, each from the four pixels
// around it (bilinear).
func scale(img image.Image, square image.Rectangle, side int) []float64 {
	at := make([]struct {
		lo, hi int
		part   float64
	}, side)
	for i := range at {
		x := (float64(i)+0.5)*float64(square.Dx())/float64(side) - 0.5
		x = min(max(x, 0), float64(square.Dx()-1))
		at[i].lo = int(x)
		at[i].hi = min(at[i].lo+1, square.Dx()-1)
		at[i].part = x - float64(at[i].lo)
	}
	pixel := func(x, y int) [3]float64 {
		r, g, b, _ := img.At(square.Min.X+x, square.Min.Y+y).RGBA()
		return [3]float64{float64(r >> 8), float64(g >> 8), float64(b >> 8)}
	}
	out := make([]float64, 0, 3*side*side)
	for _, v := range at {
		for _, h := range at {
			a, b := pixel(h.lo, v.lo), pixel(h.hi, v.lo)
			c, d := pixel(h.lo, v.hi), pixel(h.hi, v.hi)
			for k := range 3 {
				top := a[k] + (b[k]-a[k])*h.part
				bottom := c[k] + (d[k]-c[k])*h.part
				out = append(out, top+(bottom-top)*v.part)
			}
		}
	}
	return out
}
