package conformance_test

import (
	"crypto/sha256"
	"io"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/builder"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// file is a cache file in memory.
type file struct{ data []byte }

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	n := 0
	if at < int64(len(f.data)) {
		n = copy(b, f.data[at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	if end := int(at) + len(b); end > len(f.data) {
		f.data = append(f.data, make([]byte, end-len(f.data))...)
	}
	return copy(f.data[at:], b), nil
}

func (f *file) Truncate(n int64) error {
	f.data = f.data[:min(int(n), len(f.data))]
	return nil
}

// small is a network that every device with a cache prepares, and its type.
func small(tb testing.TB, d hal.Device) *nn.Model {
	for _, format := range []builder.Format{builder.Quant8, builder.Float32} {
		b := builder.New(builder.Config{Format: format})
		x := b.Values("x", 1, 8)
		b.Output(b.Add(x, x, builder.ReLU), "y")
		m, err := b.Model("small")
		if err != nil {
			tb.Fatal(err)
		}
		if s, err := d.SupportedOperations(m); err == nil && !slices.ContainsFunc(s, func(a hal.Support) bool { return !a.OK }) {
			return m
		}
	}
	tb.Fatalf("%s declines an ADD", d.Name())
	return nil
}

// FuzzCacheContent: content with a right digest that no driver has written is an error,
// or a prepared model that can be listed or cannot; it never crashes.
func FuzzCacheContent(f *testing.F) {
	var list []hal.Device
	for _, d := range open(f) {
		if n, _ := d.NumberOfCacheFilesNeeded(); n > 0 {
			list = append(list, d)
		}
	}
	for i := range list {
		f.Add(i, uint16(0), byte(0), uint16(0), byte(0))
		f.Add(i, uint16(40), byte(0xff), uint16(90), byte(1))
	}
	f.Fuzz(func(t *testing.T, i int, at uint16, x byte, at2 uint16, x2 byte) {
		d := list[uint(i)%uint(len(list))]
		m := small(t, d)
		model, data := &file{}, &file{}
		c := hal.Cache{Model: []hal.CacheHandle{{model}}, Data: []hal.CacheHandle{{data}}}
		if _, err := d.PrepareModel(m, hal.PrepareOptions{Cache: c}); err != nil {
			t.Fatal(err)
		}
		const head, sum = 110, sha256.Size // what surrounds the content of the model file
		signed := model.data[:len(model.data)-sum]
		signed[head+int(at)%(len(signed)-head)] ^= x
		signed[head+int(at2)%(len(signed)-head)] ^= x2
		digest := sha256.Sum256(signed)
		copy(model.data[len(signed):], digest[:])
		copy(data.data, digest[:])
		p, err := d.PrepareModelFromCache(nil, c)
		if err != nil {
			return
		}
		_ = p.WriteProgram(io.Discard)
		_ = p.WriteListing(io.Discard)
	})
}
