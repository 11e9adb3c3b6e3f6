package cache_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// file is a cache file in memory that can refuse to be written.
type file struct {
	bytes []byte
	full  bool
}

func (f *file) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(f.bytes)) {
		return 0, io.EOF
	}
	n := copy(p, f.bytes[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	n := len(p)
	if f.full {
		n /= 2
	}
	f.bytes = append(f.bytes[:at:at], p[:n]...)
	if f.full {
		return n, errors.New("no space left")
	}
	return n, nil
}

func (f *file) Truncate(n int64) error { f.bytes = f.bytes[:n]; return nil }

// files are the files of a cache under a token of one repeated byte.
func files(model, data *file, token byte) *hal.Cache {
	c := &hal.Cache{Model: []hal.CacheHandle{{model}}, Data: []hal.CacheHandle{{data}}}
	copy(c.Token[:], bytes.Repeat([]byte{token}, len(c.Token)))
	return c
}

// saved is a cache with two constants, for device "d" under token 7.
func saved(t *testing.T) (model, data *file) {
	t.Helper()
	model, data = &file{}, &file{}
	w := &cache.Writer{}
	w.Uint(300)
	w.Constants([]byte("weights"))
	w.Constants([]byte("biases"))
	require.Check(t, cache.Save(files(model, data, 7), "d", w) == nil, "save")
	return model, data
}

func TestSaved(t *testing.T) {
	model, data := saved(t)
	r := require.V(cache.Load(files(model, data, 7), "d"))(t)
	require.Same(t, 300, r.Uint(), "number")
	require.Same(t, "weights", string(r.Constants()), "constants")
	require.Same(t, "biases", string(r.Constants()), "constants")
	require.Check(t, r.End() == nil, "the end: %v", r.Err())
}

// TestDamaged: files that differ in one bit, in their length, or in what they are of are refused.
func TestDamaged(t *testing.T) {
	model, data := saved(t)
	refused := func(what string, m, d []byte, token byte, identity string) {
		t.Helper()
		if _, err := cache.Load(files(&file{bytes: m}, &file{bytes: d}, token), identity); err == nil {
			t.Errorf("%s: loaded", what)
		}
	}
	refused("another token", model.bytes, data.bytes, 8, "d")
	refused("another device", model.bytes, data.bytes, 7, "e")
	for i := range model.bytes {
		for bit := range 8 {
			m := slices.Clone(model.bytes)
			m[i] ^= 1 << bit
			refused("a bit of the model file", m, data.bytes, 7, "d")
		}
		refused("a model file cut short", model.bytes[:i], data.bytes, 7, "d")
	}
	for i := range data.bytes {
		for bit := range 8 {
			d := slices.Clone(data.bytes)
			d[i] ^= 1 << bit
			refused("a bit of the data file", model.bytes, d, 7, "d")
		}
		refused("a data file cut short", model.bytes, data.bytes[:i], 7, "d")
	}
	refused("a longer model file", append(slices.Clone(model.bytes), 0), data.bytes, 7, "d")
	refused("a longer data file", model.bytes, append(slices.Clone(data.bytes), 0), 7, "d")

	other, w := &file{}, &cache.Writer{}
	w.Uint(301)
	w.Constants([]byte("weights"))
	w.Constants([]byte("biases"))
	require.Check(t, cache.Save(files(&file{}, other, 7), "d", w) == nil, "save")
	refused("the data file of another model file", model.bytes, other.bytes, 7, "d")
}

// TestUnwritten: files that cannot be written are no cache afterwards, not even the one that they were.
func TestUnwritten(t *testing.T) {
	for _, full := range []string{"model", "data"} {
		model, data := saved(t)
		model.full, data.full = full == "model", full == "data"
		w := &cache.Writer{}
		w.Constants([]byte("other"))
		require.Check(t, cache.Save(files(model, data, 7), "d", w) != nil, "%s file full: saved", full)
		_, err := cache.Load(files(model, data, 7), "d")
		require.Check(t, err != nil, "%s file full: loaded", full)
	}
}

// TestHandles: a cache of other numbers of handles or files is refused for both directions.
func TestHandles(t *testing.T) {
	f := &file{}
	for _, c := range []hal.Cache{
		{},
		{Model: []hal.CacheHandle{{f}}},
		{Model: []hal.CacheHandle{{f}, {f}}, Data: []hal.CacheHandle{{f}}},
		{Model: []hal.CacheHandle{{f, f}}, Data: []hal.CacheHandle{{f}}},
		{Model: []hal.CacheHandle{{f}}, Data: []hal.CacheHandle{{}}},
		{Model: []hal.CacheHandle{{f}}, Data: []hal.CacheHandle{{nil}}},
	} {
		require.Check(t, cache.Save(&c, "d", &cache.Writer{}) != nil, "saved to %+v", c)
		_, err := cache.Load(&c, "d")
		require.Check(t, err != nil, "loaded from %+v", c)
	}
}

// TestTokens: a token changes with the client's and with each part that is added.
func TestTokens(t *testing.T) {
	seen := map[hal.CacheToken]string{}
	for _, parts := range [][]string{{"a"}, {"b"}, {"a", "source"}, {"a", "source", "options"}, {"b", "source"}} {
		h := cache.NewTokenHasher([]byte(parts[0]))
		for _, p := range parts[1:] {
			h.Update([]byte(p))
		}
		token := h.Token()
		if was, ok := seen[token]; ok {
			t.Errorf("%v and %s have one token", parts, was)
		}
		seen[token] = parts[0]
	}
}

// example has a value in every field that a cache keeps.
func example() *nn.Model {
	return &nn.Model{
		Name: "example", Relaxed: true,
		Extensions: []nn.ExtensionPrefix{{Name: "com.example", Prefix: 9}},
		Main: nn.Subgraph{
			Name: "main",
			Operands: []nn.Operand{
				{Type: nn.TensorQuant8Asymm, Lifetime: nn.SubgraphInput, Dimensions: []uint32{1, 2}, Scale: 0.5, ZeroPoint: -3, Name: "x"},
				{Type: nn.TensorQuant8SymmPerChannel, Lifetime: nn.ConstantCopy, Dimensions: []uint32{2, 1}, Channel: &nn.ChannelQuant{Dim: 1, Scales: []float32{1, 2}}, Data: []byte{1, 2}},
				{Type: nn.TensorFloat32, Lifetime: nn.ConstantReference, Dimensions: []uint32{512}, Data: bytes.Repeat([]byte{1, 2, 3, 4}, 512)},
				{Type: nn.TensorQuant8Asymm, Lifetime: nn.SubgraphOutput, Dimensions: []uint32{}, Scale: 2, Extension: []byte{5}},
			},
			Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1}, Outputs: []uint32{3}}},
			Inputs:     []uint32{0}, Outputs: []uint32{3}, Consumers: []uint32{1, 1, 0, 0},
		},
		Referenced: []nn.Subgraph{{Name: "inner"}},
		States:     []nn.State{{Input: 0, Output: 0, Initial: []byte{1}}, {}},
	}
}

func TestModel(t *testing.T) {
	want := example()
	for _, weights := range []bool{true, false} {
		w := &cache.Writer{}
		w.Model(want, weights)
		r := cache.NewReader(w.Parts())
		got := r.Model()
		require.Check(t, r.End() == nil, "weights %v: %v", weights, r.Err())
		if !weights {
			require.Same(t, 2048, len(got.Main.Operands[2].Data), "bytes of a constant that was left out")
			require.Check(t, !slices.ContainsFunc(got.Main.Operands[2].Data, func(b byte) bool { return b != 0 }), "a constant that was left out has values")
			got.Main.Operands[2].Data = want.Main.Operands[2].Data
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("weights %v: %s", weights, d)
		}
	}
}

// TestSharedConstants: a constant that is written twice lies in the data file once.
func TestSharedConstants(t *testing.T) {
	w, b := &cache.Writer{}, []byte("once")
	w.Constants(b)
	w.Constants(b)
	_, data := w.Parts()
	require.Same(t, len(b), len(data), "bytes of the data file")
}

// FuzzModel: whatever lies in a file with a valid digest is a model or an error.
func FuzzModel(f *testing.F) {
	w := &cache.Writer{}
	w.Model(example(), true)
	model, data := w.Parts()
	f.Add(model, data)
	f.Fuzz(func(t *testing.T, model, data []byte) {
		r := cache.NewReader(model, data)
		m := r.Model()
		if r.End() != nil {
			return
		}
		again := &cache.Writer{}
		again.Model(m, true)
		back := cache.NewReader(again.Parts())
		if d := cmp.Diff(m, back.Model(), nan); d != "" || back.End() != nil {
			t.Errorf("%v: %s", back.Err(), d)
		}
	})
}

// nan takes two scales for equal that are both no number.
var nan = cmp.Comparer(func(a, b float32) bool { return a == b || a != a && b != b })
