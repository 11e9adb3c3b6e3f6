package kernel

// DepthwiseTaps accumulates acc[c] = sum over taps of (x[tap][c] - zero) *
// w[tap][c] for n channels (a multiple of Block). The taps are offsets into x
// and, in elements, into w.
func DepthwiseTaps(acc []int32, x []byte, w []int32, xOff, wOff []int, zero int32, n int) {
	checkTaps(len(x), len(w), xOff, wOff, n)
	depthwiseTaps(acc[:n], x, w, xOff, wOff, zero, n)
}

func depthwiseTapsGo(acc []int32, x []byte, w []int32, xOff, wOff []int, zero int32, n int) {
	clear(acc[:n])
	for t, o := range xOff {
		xs := x[o : o+n]
		ws := w[wOff[t] : wOff[t]+n]
		for c, b := range xs {
			acc[c] += (int32(b) - zero) * ws[c]
		}
	}
}

// DepthwiseTapsF32 accumulates acc[c] = sum over taps, in order from 0, of
// x[tap][c] * w[tap][c] for n channels (a multiple of Block).
func DepthwiseTapsF32(acc, x, w []float32, xOff, wOff []int, n int) {
	checkTaps(len(x), len(w), xOff, wOff, n)
	depthwiseTapsF32(acc[:n], x, w, xOff, wOff, n)
}

func depthwiseTapsF32Go(acc, x, w []float32, xOff, wOff []int, n int) {
	clear(acc[:n])
	for t, o := range xOff {
		xs := x[o : o+n]
		ws := w[wOff[t] : wOff[t]+n]
		for c, b := range xs {
			acc[c] += float32(b * ws[c])
		}
	}
}

// checkTaps panics when a tap reaches outside x or w.
func checkTaps(x, w int, xOff, wOff []int, n int) {
	for t, o := range xOff {
		if p := wOff[t]; o < 0 || o+n > x || p < 0 || p+n > w {
			panic("kernel: tap outside its operand")
		}
	}
}
