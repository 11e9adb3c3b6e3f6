package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var cabacRows = []family.Row{
	// One binary decision is decoded. First source: range and offset; second:
	// shift of both, state and most probable symbol. The result holds the new
	// state, symbol, range and offset; p0 is the decoded bit.
	{hexagon.S2_cabacdecbin, func(t *state.Thread, u *state.Uop) {
		x, y := *t.D(u.Arg[1]), *t.D(u.Arg[2])
		shift := uint32(y) & 31
		context, symbol := uint32(y>>32)&63, uint32(y>>40)&1
		span, offset := uint32(x)<<shift, uint32(x>>32)<<shift
		less := uint32(rangeLPS[context][span>>29&3]) << 23
		more := span&0xff800000 - less
		bit, next, width := symbol, context, more
		if offset < more {
			if context < 62 {
				next++
			}
		} else {
			bit, next, width = symbol^1, uint32(nextLPS[context]), less
			offset -= more
			if context == 0 {
				symbol ^= 1
			}
		}
		*t.D(u.Arg[0]) = pair(offset, width|symbol<<8|next)
		*t.P(state.OffP) = uint8(bit)
	}},
}

// The arithmetic decoder of H.264. Tables 9-44 and 9-45 of the standard: range
// of the less probable symbol by state and range quarter, and the state after
// it. After the more probable one the state grows by one, up to 62.

var rangeLPS = [64][4]uint8{
	{128, 176, 208, 240}, {128, 167, 197, 227}, {128, 158, 187, 216}, {123, 150, 178, 205},
	{116, 142, 169, 195}, {111, 135, 160, 185}, {105, 128, 152, 175}, {100, 122, 144, 166},
	{95, 116, 137, 158}, {90, 110, 130, 150}, {85, 104, 123, 142}, {81, 99, 117, 135},
	{77, 94, 111, 128}, {73, 89, 105, 122}, {69, 85, 100, 116}, {66, 80, 95, 110},
	{62, 76, 90, 104}, {59, 72, 86, 99}, {56, 69, 81, 94}, {53, 65, 77, 89},
	{51, 62, 73, 85}, {48, 59, 69, 80}, {46, 56, 66, 76}, {43, 53, 63, 72},
	{41, 50, 59, 69}, {39, 48, 56, 65}, {37, 45, 54, 62}, {35, 43, 51, 59},
	{33, 41, 48, 56}, {32, 39, 46, 53}, {30, 37, 43, 50}, {29, 35, 41, 48},
	{27, 33, 39, 45}, {26, 31, 37, 43}, {24, 30, 35, 41}, {23, 28, 33, 39},
	{22, 27, 32, 37}, {21, 26, 30, 35}, {20, 24, 29, 33}, {19, 23, 27, 31},
	{18, 22, 26, 30}, {17, 21, 25, 28}, {16, 20, 23, 27}, {15, 19, 22, 25},
	{14, 18, 21, 24}, {14, 17, 20, 23}, {13, 16, 19, 22}, {12, 15, 18, 21},
	{12, 14, 17, 20}, {11, 14, 16, 19}, {11, 13, 15, 18}, {10, 12, 15, 17},
	{10, 12, 14, 16}, {9, 11, 13, 15}, {9, 11, 12, 14}, {8, 10, 12, 14},
	{8, 9, 11, 13}, {7, 9, 11, 12}, {7, 9, 10, 12}, {7, 8, 10, 11},
	{6, 8, 9, 11}, {6, 7, 9, 10}, {6, 7, 8, 9}, {2, 2, 2, 2},
}

var nextLPS = [64]uint8{
	0, 0, 1, 2, 2, 4, 4, 5, 6, 7, 8, 9, 9, 11, 11, 12, 13, 13, 15, 15, 16, 16, 18, 18, 19, 19, 21, 21, 22, 22, 23, 24,
	24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30, 31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63,
}
