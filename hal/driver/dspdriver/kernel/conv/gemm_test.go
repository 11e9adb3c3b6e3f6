package conv

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// TestGEMM convolves random images of whole channels by the kernel that multiplies groups of
// output channels with blocks of positions: one chunk of 128 channels and several, with a
// tail and without, in a loop and written out and by the Z window, for windows of one row and of more.
func TestGEMM(t *testing.T) {
	const h, width = 5, 9
	for i, c := range []struct {
		k, channels, kh, kw int
		positions           int
		unrolled            bool
		perChannel          bool
		window              bool
	}{
		{128, 64, 1, 1, 4, false, false, false},
		{128, 16, 1, 1, 5, true, false, false},
		{128, 8, 2, 3, 4, true, true, false},
		{256, 32, 1, 1, 4, false, true, false},
		{168, 24, 3, 2, 3, false, false, false},
		{40, 32, 1, 3, 4, false, false, false},
		{96, 8, 1, 1, 2, true, true, false},
		{128, 64, 1, 1, 4, false, false, true},
		{128, 32, 1, 1, 4, false, true, true}, // one vector of the window
		{256, 256, 1, 1, 4, false, true, true},
		{40, 32, 1, 3, 4, false, false, true},
		{168, 24, 3, 2, 4, false, false, true}, // runs of 48 bytes
		{32, 160, 3, 2, 4, false, true, true},
		{96, 8, 2, 2, 4, false, false, true},
	} {
		r := rand.New(rand.NewPCG(13, uint64(50+i)))
		random := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		}
		f := filter.Filter{Data: random(c.k * c.kh * c.kw * c.channels), K: c.k, KH: c.kh, KW: c.kw, C: c.channels}
		if c.window {
			f.Zero = 128
		}
		g := &filter.Conv{Filter: f, InZero: int32(r.IntN(256))}
		n := 1
		if c.perChannel {
			n = c.k
		}
		var mult []fixedpoint.Multiplier
		for range n {
			mult = append(mult, fixedpoint.QuantizeMultiplier((0.5+r.Float64())/float64(120*c.kh*c.kw*c.channels)))
		}
		for range c.k {
			g.Bias = binary.LittleEndian.AppendUint32(g.Bias, uint32(r.IntN(1<<18)-1<<17))
		}
		g.Rq = hvx.NewRequant(mult, 120, 2, 250, 0)

		// A run is a row of the window, whose channels fill their pitch.
		full, rest := c.k/128, c.k%128
		k := GEMM{Positions: c.positions, Words: c.kw * c.channels / 4, Runs: c.kh, WordPairs: true, Unrolled: c.unrolled, Full: full > 0,
			OneChunk: full == 0 || full == 1 && rest == 0, Tail: hvx.CeilDiv(rest, 32), PerVector: 1, PerAddress: 1, Rq: g.Rq.Kind()}
		if c.window {
			k.Window, k.WordPairs, k.Words = true, false, hvx.RoundUp(k.Words, WindowWords)
			k.Aligned = c.channels%hvx.VectorBytes == 0
		}
		rowBytes := width * c.channels
		var taps [][4]Tap
		var bumps []uint32
		for y := range c.kh {
			for w := range k.Words {
				var word [4]Tap
				for b := range word {
					at := 4*w + b
					if word[b] = (Tap{y, at / c.channels, at % c.channels}); word[b].X >= c.kw {
						word[b] = Tap{Y: -1}
					}
				}
				taps = append(taps, word)
			}
			bumps = append(bumps, uint32(rowBytes-k.Consumed()))
		}
		records := PackChunks(g, &k, taps, 0, full, 4, true)
		if k.Tail > 0 {
			records = append(records, PackChunks(g, &k, taps, full*128, 1, k.Tail, false)...)
		}

		b := hvxtest.New(t)
		image := random(h * rowBytes)
		rows, cols := h-c.kh+1, width-c.kw+1
		pitch := hvx.RoundUp(c.k, hvx.VectorBytes)
		in, out := b.Load(image), b.Alloc(rows*cols*pitch)
		var table []uint32
		blocks := hvx.CeilDiv(rows*cols, c.positions)
		for block := range blocks + 1 { // one behind the last is begun in vain
			for _, output := range [2]bool{false, true} {
				for p := range c.positions {
					at := min(block*c.positions+p, rows*cols-1)
					if output {
						table = append(table, out+uint32(at*pitch))
					} else {
						table = append(table, in+uint32(at/cols*rowBytes+at%cols*c.channels))
					}
				}
			}
		}
		strip := make([]uint32, StripWords)
		strip[StripBlocks] = uint32(blocks)
		args := make([]uint32, WindowArgs)
		args[ArgBumps], args[ArgChunks] = b.Words(bumps...), uint32(full)
		if c.window {
			args[ArgFull], args[ArgWindow] = b.Scratchpad(records), b.Alloc(k.WindowBytes()+hvx.VectorBytes)
			args[ArgWindow] += hvx.VectorBytes * uint32(i%2) // begins with either half
		} else {
			args[ArgFull] = b.Load(records)
		}
		if k.Tail > 0 {
			args[ArgTail], args[ArgTailOffset] = args[ArgFull]+uint32(full*k.Record(4)), uint32(full*hvx.VectorBytes)
		}
		b.Run(k, []uint32{b.Words(table...), b.Words(strip...), 1, b.Words(args...), b.Words(g.Rq.Params()...), 0, 0, 0})

		got := b.Bytes(out, rows*cols*pitch)
		for at := range rows * cols {
			for ch := range c.k {
				acc := int32(binary.LittleEndian.Uint32(g.Bias[4*ch:]))
				for y := range c.kh {
					for x := range c.kw {
						for i := range c.channels {
							v := image[(at/cols+y)*rowBytes+(at%cols+x)*c.channels+i]
							acc += (int32(v) - g.InZero) * (int32(f.At(ch, y, x, i)) - f.Zero)
						}
					}
				}
				want := byte(min(max(mult[ch%n].Apply(acc)+g.Rq.Zero, g.Rq.Lo), g.Rq.Hi))
				if g := got[at*pitch+ch]; g != want {
					t.Fatalf("%+v: position %d, channel %d is %d, want %d", c, at, ch, g, want)
				}
			}
		}
	}
}
