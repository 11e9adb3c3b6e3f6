package schedule

import (
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// flopsOf is the floating-point operations of a lane, integer dot products among them: two for a
// multiplication and an addition, and each part of a packed instruction counts.
func flopsOf(u *state.Op) uint8 {
	n := uint8(1)
	switch u.Class {
	case state.ClassF32, state.ClassF64, state.ClassTrans, state.ClassF16, state.ClassFMA32, state.ClassDot:
	default:
		return 0
	}
	if u.Details == nil || u.Details.Form == nil {
		return 0
	}
	name := u.Details.Form.Mnemonic.String()
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case has("cmp", "cvt", "cndmask", "class", "frexp", "med3"):
		return 0
	case has("dot2"):
		return 4
	case has("dot4"):
		return 8
	case has("dot8"):
		return 16
	case has("fma", "mac", "mad"):
		n = 2
	}
	if has("_pk_") {
		n *= 2
	}
	return n
}
