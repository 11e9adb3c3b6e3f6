package ethosu

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestManualIsUpToDate(t *testing.T) {
	want := require.File(t, filepath.Join("..", "..", "docs", "isa", "ethosu.md"))
	var got bytes.Buffer
	require.NoError(t, WriteManual(&got))
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("docs/isa/ethosu.md is stale: run go generate ./isa/ethosu")
	}
}

func TestTable(t *testing.T) {
	for i := 1; i < Forms(); i++ {
		if Row(i).Code <= Row(i-1).Code {
			t.Errorf("%s is out of order", Row(i).Name)
		}
	}
	seen := map[int]bool{}
	for i := range Forms() {
		f := Row(i)
		if s := f.Code.Slot(); seen[s] || s >= NumSlots {
			t.Errorf("%s: slot %d taken or out of range", f.Name, s)
		} else {
			seen[s] = true
		}
		if Lookup(f.Code) != f {
			t.Errorf("%s: Lookup gives another row", f.Name)
		}
		var used uint32
		for _, x := range f.Fields {
			m := uint32(1<<x.Bits-1) << x.Lo
			if used&m != 0 || m > 0xFFFF {
				t.Errorf("%s: field %s overlaps or leaves the word", f.Name, x.Name)
			}
			used |= m
		}
		// Text and back.
		c := Command{Code: f.Code, Param: 0x1234}
		if f.Code.HasPayload() {
			c.Payload = 0xDEADBEEF
		}
		words := require.V(Assemble(strings.NewReader(c.Text(0))))(t)
		if !slices.Equal(words, c.Append(nil)) {
			t.Errorf("%s: %q assembles to %x", f.Name, c.Text(0), words)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		words []uint32
		want  string
	}{
		{[]uint32{0x0001_0104, 0x03FF}, "offset 0x000004: unknown command code 0x03ff"},
		{[]uint32{0x4000}, "offset 0x000000: NPU_SET_IFM_BASE0: payload word missing"},
		{[]uint32{0x8002}, "malformed command word 0x00008002"},
		{[]uint32{0x40FF, 0}, "unknown command code 0x40ff"},
	} {
		_, err := Decode(c.words)
		var se *StreamError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%x: %v, want %q", c.words, err, c.want)
		}
	}
}

func TestAssembleErrors(t *testing.T) {
	for _, c := range [][2]string{
		{"NPU_OP_CONV 0\nNPU_OP_NONE 0", "line 2: unknown command"},
		{"cmd1.NPU_OP_CONV 0", "is cmd0, not cmd1"},
		{"NPU_SET_IFM_BASE0 0", "takes 2 numbers"},
		{"NPU_OP_POOL 70000", "not a 16-bit number"},
		{"0x000000:          0001 0005 - cmd0.NPU_OP_POOL 2", "are not NPU_OP_POOL 2"},
		{"0x000008:          0002 0005 - cmd0.NPU_OP_POOL 2", "the stream is at"},
	} {
		require.ErrorContains(t, require.Err(Assemble(strings.NewReader(c[0]))), c[1], c[0])
	}
	words, err := Assemble(strings.NewReader("# comment\nNPU_SET_OFM_SCALE 48, 0x41726b1e\n\nNPU_OP_STOP 65535 ; end\n"))
	if want := []uint32{48<<16 | 0x4024, 0x41726b1e, 0xFFFF0000}; err != nil || !slices.Equal(words, want) {
		t.Errorf("short form: %x, %v", words, err)
	}
}

func TestBuilder(t *testing.T) {
	b := NewBuilder(U55)
	b.Set(SetIFMZeroPoint, -128)
	b.Set(SetIFMZeroPoint, 0xFF80) // the same register value
	b.SetAddr(SetIFMBase0, 0x100)
	b.SetAddr(SetIFMBase0, 0x100)
	b.Op(OpConv, 0)
	b.Op(OpConv, 0)
	words, err := b.Words()
	if want := []uint32{0xFF80_0109, 0x4000, 0x100, 2, 2}; err != nil || !slices.Equal(words, want) {
		t.Errorf("%x, %v, want %x", words, err, want)
	}
	for name, f := range map[string]func(*Builder){
		"U65 register":  func(b *Builder) { b.SetAddr(SetWeight1Base, 0) },
		"40-bit on U55": func(b *Builder) { b.SetAddr(SetIFMBase0, 1<<33) },
		"too wide":      func(b *Builder) { b.Set(SetOFMBlkHeightM1, 32) },
		"negative pad":  func(b *Builder) { b.Set(SetIFMPadTop, -1) },
		"kind":          func(b *Builder) { b.Set(SetOFMScale, 1) },
		"shift":         func(b *Builder) { b.SetScale(SetOFMScale, 1, 64) },
	} {
		b := NewBuilder(U55)
		f(b)
		require.Fails(t, require.Err(b.Words()), name, "accepted")
	}
}

func TestPayload(t *testing.T) {
	p := &Payload{Release: DefaultRelease, ID: DefaultID, Config: Config{9, 96, false, U65}, Commands: []uint32{1, 2, 3}}
	b := require.V(p.Append(nil))(t)
	q, err := ReadPayload(b)
	if err != nil || q.Config != p.Config || q.ID != p.ID || !slices.Equal(q.Commands, p.Commands) {
		t.Fatalf("%+v, %v", q, err)
	}
	if q.Config.Cores() != 2 {
		t.Error("U65-512 has two cores")
	}
	for n := range len(b) {
		require.Fails(t, require.Err(ReadPayload(b[:n])), "cut to", n, "bytes", "accepted")
	}
}

func TestWeightsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ n, lo, hi int }{{1, -3, 4}, {100, -128, 127}, {5000, -255, 255}, {70000, -127, 127}, {333, 0, 0}, {32768, -1, 1}} {
		w := make([]int16, c.n)
		for i := range w {
			w[i] = int16(c.lo + r.IntN(c.hi-c.lo+1))
		}
		b, err := EncodeWeights(nil, w)
		if err != nil || len(b)%16 != 0 {
			t.Fatalf("%v: %d bytes, %v", c, len(b), err)
		}
		got, _, err := DecodeWeights(nil, b, c.n)
		if err != nil || !slices.Equal(got, w) {
			t.Fatalf("%v: decoded %d weights, %v", c, len(got), err)
		}
		if _, _, err := DecodeWeights(nil, b, c.n-1); err == nil {
			t.Errorf("%v: more weights than the limit accepted", c)
		}
		if len(b) > 16 {
			if _, _, err := DecodeWeights(nil, b[:len(b)-16], c.n); err == nil {
				t.Errorf("%v: truncated stream accepted", c)
			}
		}
	}
	require.Fails(t, require.Err(EncodeWeights(nil, []int16{256})), "weight 256 accepted")
}

// Compressed streams of every character decode to their weights and are no
// longer than the uncompressed ones.
func TestCompressor(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var compressor Compressor
	for _, c := range []struct {
		name string
		n    int
		gen  func() int
	}{
		{"one", 1, func() int { return -7 }},
		{"zeros", 5000, func() int { return 0 }},
		{"uniform", 3000, func() int { return r.IntN(511) - 255 }},
		{"bytes", 70000, func() int { return r.IntN(256) - 128 }},
		{"peaked", 40000, func() int { return int(r.NormFloat64() * 12) }},
		{"sparse", 90000, func() int { return int(r.NormFloat64()*20) * (r.IntN(10) / 9) }},
		{"very sparse", 40000, func() int { return r.IntN(3) * 200 * (r.IntN(500) / 499) }},
		{"few values", 40000, func() int { return []int{-90, 3, 7, 250, 0}[r.IntN(5)] }},
		{"binary", 1000, func() int { return r.IntN(2)*2 - 1 }},
	} {
		w := make([]int16, c.n)
		for i := range w {
			w[i] = int16(min(max(c.gen(), -255), 255))
		}
		b := require.V(compressor.Append(nil, w))(t)
		got, stats, err := DecodeWeights(nil, b, c.n)
		if err != nil || !slices.Equal(got, w) {
			t.Fatalf("%s: %d of %d weights, %v", c.name, len(got), c.n, err)
		}
		plain := require.V(EncodeWeights(nil, w))(t)
		if len(b) > len(plain)+16 {
			t.Errorf("%s: %d bytes, uncompressed %d", c.name, len(b), len(plain))
		}
		t.Logf("%-12s %6d weights: %6d bytes, uncompressed %6d, %+v", c.name, c.n, len(b), len(plain), stats)
	}
}

// Every plan, not only the best, produces a stream that decodes.
func TestEveryPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, spread := range []float64{1, 9, 60} {
		w := make([]int16, 700)
		for i := range w {
			if r.IntN(3) > 0 {
				w[i] = int16(min(max(r.NormFloat64()*spread, -255), 255))
			}
		}
		tried := 0
		var rows golombRows
		best := codingPlan{bits: math.MaxInt64}
		hist, _ := histogram(w)
		for _, runs := range []bool{false, true} {
			plans(w, *hist, runs, math.MaxInt64, func(p codingPlan) int64 {
				if tried++; p.bits < best.bits {
					best = p
				}
				var b bitWriter
				p.write(&b, w, &rows)
				b.put(zdivEnd, 3)
				for b.n != 0 {
					b.put(1, 1)
				}
				got, _, err := DecodeWeights(nil, b.dst, len(w))
				if err != nil || !slices.Equal(got, w) {
					t.Fatalf("%+v: %d weights, %v", p, len(got), err)
				}
				return math.MaxInt64
			})
		}
		var c Compressor
		b := bitWriter{}
		best.write(&b, w, &rows)
		if got, err := c.Append(nil, w); err != nil || !bytes.Equal(got, b.finish(0)) {
			t.Errorf("spread %v: not by the plan of the fewest bits, %+v: %v", spread, best, err)
		}
		if tried < 20 {
			t.Errorf("spread %v: %d plans", spread, tried)
		}
	}
}

// A hand-made stream: zero runs, Golomb-Rice weights with quotients, palette.
func TestWeightsZeroRunsAndPalette(t *testing.T) {
	type f struct{ v, n uint32 }
	build := func(fields ...f) []byte {
		var w bitWriter
		for _, x := range fields {
			w.put(x.v, int(x.n))
		}
		for w.n != 0 || len(w.dst)%16 != 0 {
			w.put(1, 1)
		}
		return w.dst
	}
	// Two weights from a palette of two ({+3, -1}), leading run 2, then 0 and 1.
	// ZDIV 0: a run is a quotient alone.
	b := build(f{0, 3}, f{1, 15}, f{0, 3}, f{0, 1}, f{1, 1}, // two weights, WDIV 0, new palette
		f{0, 5}, f{1, 5}, f{1, 3}, // palette of 2, entries of 3 bits
		f{6, 3}, f{3, 3}, // +3, -1
		// W: indices 0, 1 -> unary 0, then (1 with second bit 0); 12 bits
		f{0b10, 12},
		// Z: runs 2, 0, 1 -> 1 1 0 | 0 | 1 0
		f{0b010011, 12},
		f{0, 1}, // second bit of the one set bit
		f{7, 3})
	got, stats, err := DecodeWeights(nil, b, 100)
	if want := []int16{0, 0, 3, -1, 0}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if stats.ZeroRuns != 1 || stats.Palettes != 1 || stats.Raw != 0 {
		t.Errorf("stats %+v", stats)
	}
}

func TestTraversalRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		tr := Traversal{OFMDepth: 1 + r.IntN(40), KernelHeight: 1 + r.IntN(10), KernelWidth: 1 + r.IntN(10), IFMDepth: 1 + r.IntN(50),
			BlockDepth: 8 * (1 + r.IntN(4)), Depthwise: r.IntN(3) == 0, PartKernel: r.IntN(2) == 0, IFMBits: 8 << r.IntN(2),
			UBlockOFM: 4 << r.IntN(2), DilationX: 1 + r.IntN(2), DilationY: 1 + r.IntN(2)}
		if tr.Depthwise {
			tr.IFMDepth = 1
		}
		w := make([]int16, tr.OFMDepth*tr.KernelHeight*tr.KernelWidth*tr.IFMDepth)
		for i := range w {
			w[i] = int16(1 + i%251)
		}
		s := require.V(tr.Gather(nil, w))(t)
		n, err := tr.Len()
		if err != nil || n != int64(len(s)) {
			t.Fatalf("%+v: Len %d, stream has %d, %v", tr, n, len(s), err)
		}
		back := make([]int16, len(w))
		require.NoError(t, tr.Scatter(back, s, len(w)/tr.OFMDepth))
		if !slices.Equal(back, w) {
			t.Fatalf("%+v: weights lost", tr)
		}
	}
}

// The order of a small depth-first and a small part-kernel stream, by hand.
func TestTraversalOrder(t *testing.T) {
	tr := Traversal{OFMDepth: 8, KernelHeight: 1, KernelWidth: 2, IFMDepth: 9, BlockDepth: 8, IFMBits: 8, UBlockOFM: 8, DilationX: 1, DilationY: 1}
	var got [][4]int
	require.NoError(t, tr.Walk(func(o, y, x, i, n int) { got = append(got, [4]int{o, x, i, n}) }))
	// Depth-first: all 32 inputs of tap 0, channel by channel within 8 inputs.
	if len(got) != 2*4*8 || got[1] != [4]int{1, 0, 0, 8} || got[8] != [4]int{0, 0, 8, 8} || got[32] != [4]int{0, 1, 0, 8} {
		t.Errorf("depth first: %d runs, %v %v %v", len(got), got[1], got[8], got[32])
	}
	tr.PartKernel = true
	got = got[:0]
	require.NoError(t, tr.Walk(func(o, y, x, i, n int) { got = append(got, [4]int{o, y, i, n}) }))
	// Part-kernel: four taps of 8 inputs, the last two padding, then 8 more.
	if len(got) != 2*4*8 || got[8] != [4]int{0, 0, 0, 8} || got[16][1] != 1 || got[32] != [4]int{0, 0, 8, 8} {
		t.Errorf("part kernel: %d runs, %v %v %v", len(got), got[8], got[16], got[32])
	}
}

func TestScaleRecord(t *testing.T) {
	for _, r := range []ScaleRecord{{-1, 0xFFFFFFFF, 63}, {1<<39 - 1, 1, 0}, {-1 << 39, 0x80000001, 31}} {
		b, err := r.Append(nil)
		if err != nil || len(b) != ScaleRecordSize || ReadScale(b) != r {
			t.Errorf("%+v: %x, %+v, %v", r, b, ReadScale(b), err)
		}
	}
	require.Fails(t, require.Err((ScaleRecord{Bias: 1 << 39}).Append(nil)), "41-bit bias accepted")
}

func TestScale(t *testing.T) {
	for _, f := range []float64{1, 0.5, 0.0003, 1.7, 1e-9, 3e8} {
		s, sh := Scale(f)
		if got := float64(s) / float64(uint64(1)<<sh); got < f*(1-1e-9) || got > f*(1+1e-9) {
			t.Errorf("%v: %d >> %d", f, s, sh)
		}
	}
	if s, sh := Scale(0); s != 0 || sh != 16 {
		t.Error("scale of 0")
	}
	// A sum of n equal elements averages exactly, whatever n.
	for n := 1; n <= 4096; n++ {
		s, sh := AverageScale(n, 0)
		for _, v := range []int64{1, 127, 255} {
			p := new(big.Int).Mul(big.NewInt(v*int64(n)), big.NewInt(int64(s)))
			p.Add(p, new(big.Int).Lsh(big.NewInt(1), uint(sh)-1)).Rsh(p, uint(sh))
			if p.Int64() != v {
				t.Fatalf("average of %d times %d is %v", n, v, p)
			}
		}
	}
}

func BenchmarkWeights(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 9))
	w := make([]int16, 1<<18)
	for i := range w {
		w[i] = int16(min(max(r.NormFloat64()*25, -127), 127))
	}
	plain, err := EncodeWeights(nil, w)
	require.NoError(b, err)
	var compressor Compressor
	packed := require.V(compressor.Append(nil, w))(b)
	perWeight := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(w)), "ns/weight")
	}
	var dst []int16
	b.Run("decode-plain", func(b *testing.B) {
		for b.Loop() {
			dst, _, err = DecodeWeights(dst[:0], plain, len(w))
		}
		perWeight(b)
	})
	b.Run("decode-compressed", func(b *testing.B) {
		for b.Loop() {
			dst, _, err = DecodeWeights(dst[:0], packed, len(w))
		}
		perWeight(b)
	})
	b.Run("compress", func(b *testing.B) {
		for b.Loop() {
			packed, err = compressor.Append(packed[:0], w)
		}
		perWeight(b)
	})
}
