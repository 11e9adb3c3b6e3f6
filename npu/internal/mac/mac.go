package mac

// PackU8 lays out weights for DotU8: blocks of vectors*16 output channels, for
// each four consecutive k the four weights of every channel.
// weight(o, k) is called for o < channels, k < depth; depth is a multiple of 4.
// Channels are rounded up to 16 with zeros.
func PackU8(channels, depth int, weight func(o, k int) int8) []int8 {
	padded := (channels + VectorU8 - 1) / VectorU8 * VectorU8
	w := make([]int8, padded*depth)
	at := 0
	for o0 := 0; o0 < padded; o0 += GroupU8 * VectorU8 {
		width := min(GroupU8*VectorU8, padded-o0)
		for k := 0; k < depth; k += 4 {
			for o := o0; o < o0+width; o++ {
				if o < channels {
					for j := range 4 {
						w[at+j] = weight(o, k+j)
					}
				}
				at += 4
			}
		}
	}
	return w
}

// PackI16 lays out weights for DotI16: blocks of 16 output channels, for each
// two consecutive k the two weights of every channel.
func PackI16(channels, depth int, weight func(o, k int) int16) []int16 {
	padded := (channels + WidthI16 - 1) / WidthI16 * WidthI16
	w := make([]int16, padded*depth)
	at := 0
	for o0 := 0; o0 < padded; o0 += WidthI16 {
		for k := 0; k < depth; k += 2 {
			for o := o0; o < o0+WidthI16; o++ {
				if o < channels {
					w[at], w[at+1] = weight(o, k), weight(o, k+1)
				}
				at += 2
			}
		}
	}
	return w
}

// PackDepthwise lays out weights for Depthwise: per group of 16 channels, per
// pair of taps, 32 weights. An odd number of taps is padded with zeros.
func PackDepthwise(channels, taps int, weight func(c, t int) int16) []int16 {
	groups, pairs := (channels+15)/16, (taps+1)/2
	w := make([]int16, groups*pairs*32)
	for g := range groups {
		for t := range taps {
			block := w[(g*pairs+t/2)*32:][:32]
			for c := g * 16; c < min(g*16+16, channels); c++ {
				block[pairIndex(c-g*16)+t&1] = weight(c, t)
			}
		}
	}
	return w
}
