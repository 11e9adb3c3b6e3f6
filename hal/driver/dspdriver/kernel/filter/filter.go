package filter

// Filter gives the weights of a convolution in one form: unsigned, with an
// unsigned zero point, addressed by output channel and tap.
type Filter struct {
	Data   []byte
	Flip   byte // 0x80 when the stored values are signed
	Zero   int32
	K      int // output channels
	KH, KW int
	C      int // input channels
	// depthwise filters are [kh][kw][k]; channel k reads input k only.
	Depthwise bool
}

// At is the unsigned weight of output channel k for tap (y, x), input c.
func (f *Filter) At(k, y, x, c int) byte {
	if f.Depthwise {
		return f.Data[(y*f.KW+x)*f.K+k] ^ f.Flip
	}
	return f.Data[((k*f.KH+y)*f.KW+x)*f.C+c] ^ f.Flip
}

// Centred is a depthwise weight without its zero point.
func (f *Filter) Centred(ch, y, x int) int32 {
	return int32(f.Data[(y*f.KW+x)*f.K+ch]^f.Flip) - f.Zero
}

// Weights are the weights of output channel k of a filter that is not depthwise, as stored:
// tap by tap, the inputs of each.
func (f *Filter) Weights(k int) []byte {
	n := f.KH * f.KW * f.C
	return f.Data[k*n : (k+1)*n]
}

// MaxSignedBytes is how many signed bytes add up to any weight without its zero point.
const MaxSignedBytes = 3

// SignedBytes writes the weight w, -255 to 255, as a sum of n signed bytes.
func SignedBytes(w int32) (parts [MaxSignedBytes]int8, n int) {
	for {
		p := min(max(w, -128), 127)
		parts[n] = int8(p)
		n++
		if w -= p; w == 0 || n == len(parts) {
			return parts, n
		}
	}
}
