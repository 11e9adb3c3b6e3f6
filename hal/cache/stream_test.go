package cache_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestReaderBounds: a value at a bound is read, one beyond it is refused; the first refusal stays, and no list takes
// more memory than its bytes allow.
func TestReaderBounds(t *testing.T) {
	number := func(v int64) func(w *cache.Writer) { return func(w *cache.Writer) { w.Int(v) } }
	count := func(v uint64) func(w *cache.Writer) { return func(w *cache.Writer) { w.Uint(v) } }
	in := func(r *cache.Reader) { r.IntIn(-3, 7) }
	upTo := func(r *cache.Reader) { r.IntUpTo(7) }
	truth := func(r *cache.Reader) { r.Bool() }
	words := func(r *cache.Reader) { r.Uint32s() }
	for _, c := range []struct {
		name  string
		write func(w *cache.Writer)
		read  func(r *cache.Reader)
		good  bool
	}{
		{"the highest", number(7), in, true},
		{"above the highest", number(8), in, false},
		{"the lowest", number(-3), in, true},
		{"below the lowest", number(-4), in, false},
		{"the most", count(7), upTo, true},
		{"more than the most", count(8), upTo, false},
		{"true", count(1), truth, true},
		{"no truth value", count(2), truth, false},
		{"a float", func(w *cache.Writer) { w.Float(1) }, func(r *cache.Reader) { r.Float() }, true},
		{"three bytes of a float", func(w *cache.Writer) { w.Uint(1); w.Uint(1); w.Uint(1) }, func(r *cache.Reader) { r.Float() }, false},
		{"a list of one", func(w *cache.Writer) { w.Bytes([]byte{9}) }, func(r *cache.Reader) { r.Bytes() }, true},
		{"a list that ends early", func(w *cache.Writer) { w.Uint(2); w.Uint(1) }, func(r *cache.Reader) { r.Bytes() }, false},
		{"words", func(w *cache.Writer) { w.Uint32s([]uint32{1<<32 - 1}) }, words, true},
		{"a word of 33 bits", func(w *cache.Writer) { w.Uint(2); w.Uint(1 << 32) }, words, false},
		{"words that end early", func(w *cache.Writer) { w.Uint(3); w.Uint(1) }, words, false},
		{"more words than memory holds", func(w *cache.Writer) { w.Uint(1<<40 + 1); w.Uint(1) }, words, false},
		{"constants", func(w *cache.Writer) { w.Uint(3); w.Uint(1) }, func(r *cache.Reader) { r.Constants() }, true},
		{"constants behind the end", func(w *cache.Writer) { w.Uint(4); w.Uint(1) }, func(r *cache.Reader) { r.Constants() }, false},
		{"a byte behind the end", func(w *cache.Writer) { w.Uint(1); w.Uint(1) }, truth, false},
	} {
		var w cache.Writer
		c.write(&w)
		model, _ := w.Parts()
		r := cache.NewReader(model, []byte{1, 2, 3, 4})
		c.read(r)
		require.Check(t, (r.End() == nil) == c.good, "%s: %v", c.name, r.Err())
	}
	r := cache.NewReader([]byte{2, 3}, nil)
	r.Bool()
	first := r.Err()
	r.Bool()
	require.Check(t, first != nil && r.Err() == first, "%v, then %v", first, r.Err())
	r = cache.NewReader([]byte{2, 1}, []byte{1, 2, 3, 4})
	if b := r.Constants(); len(b) != 2 || cap(b) != 2 {
		t.Errorf("constants %v of capacity %d reach into what follows them", b, cap(b))
	}
}

// TestCoderBounds: a number at either bound is read, one outside is not; writing checks nothing.
func TestCoderBounds(t *testing.T) {
	for v, good := range map[uint64]bool{2: false, 3: true, 9: true, 10: false} {
		var w cache.Writer
		w.Uint(v)
		model, _ := w.Parts()
		r := cache.NewReader(model, nil)
		c, n := r.Coder(), 0
		cache.Number(c, &n, 3, 9)
		require.Check(t, c.Valid() == good && (r.End() == nil) == good, "%d between 3 and 9: %v", v, r.Err())
	}
	var w cache.Writer
	c := w.Coder()
	c.Check(false, "a writer")
	require.Check(t, c.Valid(), "a condition of readers failed a writer")
}
