package mac

// PackU8 lays out weights for DotU8: blocks of at most GroupU8*16 output
// channels, for each four consecutive k the four weights of every channel.
// w[o][tap][i] has channels x taps x depth elements, offset is subtracted from
// each; k runs over taps and, inside, the depth rounded up to 4 with zeros.
// Channels are rounded up to 16. With ones set, a channel of weight 1 follows.
func PackU8(w []int16, channels, taps, depth, offset int, ones bool) []int8 {
	all := channels
	if ones {
		all++
	}
	padded := (all + VectorU8 - 1) / VectorU8 * VectorU8
	d4 := (depth + 3) &^ 3
	out := make([]int8, padded*taps*d4)
	for o := range all {
		block := o / (GroupU8 * VectorU8) * (GroupU8 * VectorU8)
		width := min(GroupU8*VectorU8, padded-block)
		at := block*taps*d4 + 4*(o-block)
		for t := range taps {
			if o == channels {
				for i := range depth {
					out[at+i/4*4*width+i&3] = 1
				}
				at += d4 * width
				continue
			}
			src := w[(o*taps+t)*depth:][:depth]
			for ; len(src) >= 4; src = src[4:] {
				q := (*[4]int8)(out[at:])
				s := (*[4]int16)(src)
				*q = [4]int8{int8(int(s[0]) - offset), int8(int(s[1]) - offset), int8(int(s[2]) - offset), int8(int(s[3]) - offset)}
				at += 4 * width
			}
			if len(src) > 0 {
				for i, v := range src {
					out[at+i] = int8(int(v) - offset)
				}
				at += 4 * width
			}
		}
	}
	return out
}

// PackI16 lays out weights for DotI16: blocks of 16 output channels, for each
// two consecutive k the two weights of every channel. w is as for PackU8, the
// depth is rounded up to 4.
func PackI16(w []int16, channels, taps, depth int) []int16 {
	padded := (channels + WidthI16 - 1) / WidthI16 * WidthI16
	d4 := (depth + 3) &^ 3
	out := make([]int16, padded*taps*d4)
	for o := range channels {
		base := o/WidthI16*WidthI16*taps*d4 + 2*(o%WidthI16)
		for t := range taps {
			for i, v := range w[(o*taps+t)*depth:][:depth] {
				k := t*d4 + i
				out[base+k/2*2*WidthI16+k&1] = v
			}
		}
	}
	return out
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
