package conv

import "github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"

// SpatialWord is the signed weights of a plane for a channel, nothing for a second part
// that is not there.
func SpatialWord(g *filter.Conv, d *Spatial, ch, plane, part int) []byte {
	w, has := make([]byte, 4), false
	tap, first := plane/d.Words, plane%d.Words*4
	for i := range w {
		c := first + i
		if c >= g.Filter.C {
			break
		}
		b := g.Filter.At(max(ch, 0), tap/d.KW, tap%d.KW, c)
		switch {
		case ch < 0:
			w[i], has = byte(g.Filter.Zero), true
		case d.Unsigned:
			w[i], has = b, true
		default:
			if parts, n := filter.SignedBytes(int32(b) - g.Filter.Zero); part < n {
				w[i], has = byte(parts[part]), true
			}
		}
	}
	if !has {
		return nil
	}
	return w
}
