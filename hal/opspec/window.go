package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Window is how a filter moves over the two spatial dimensions of an image.
// Padding is explicit here whichever way the operation states it.
type Window struct {
	H, W                     int // input
	KH, KW                   int // filter
	StrideH, StrideW         int
	DilationH, DilationW     int // 1 is dense
	Top, Bottom, Left, Right int // padding in input elements
	OutH, OutW               int
}

// window reads stride, dilation, filter size (unless given) and padding.
func (a *Args) window(h, w, kh, kw int) (Window, error) {
	g := Window{H: h, W: w, KH: kh, KW: kw}
	dims := [...]struct {
		name string
		dst  *int
		def  int32
		read bool
	}{
		{"stride_w", &g.StrideW, 0, true}, {"stride_h", &g.StrideH, 0, true},
		{"filter_w", &g.KW, 0, kw == 0}, {"filter_h", &g.KH, 0, kh == 0},
		{"dilation_w", &g.DilationW, 1, true}, {"dilation_h", &g.DilationH, 1, true},
	}
	for _, d := range dims {
		if !d.read {
			continue
		}
		v, err := d.def, error(nil)
		if d.def == 0 || a.Has(d.name) {
			v, err = a.Int32(d.name)
		}
		if err != nil {
			return g, err
		}
		if v < 1 {
			return g, a.errorf(d.name, "%d is not positive", v)
		}
		*d.dst = int(v)
	}
	if a.Has("padding") {
		scheme, err := a.Int32("padding")
		if err != nil {
			return g, err
		}
		switch scheme {
		case nn.PaddingSame:
			g.Top, g.Bottom = samePadding(g.H, g.KH, g.StrideH, g.DilationH)
			g.Left, g.Right = samePadding(g.W, g.KW, g.StrideW, g.DilationW)
		case nn.PaddingValid:
		default:
			return g, a.errorf("padding", "scheme %d is neither 1 (SAME) nor 2 (VALID)", scheme)
		}
	} else {
		pads := [...]struct {
			name string
			dst  *int
		}{{"pad_left", &g.Left}, {"pad_right", &g.Right}, {"pad_top", &g.Top}, {"pad_bottom", &g.Bottom}}
		for _, p := range pads {
			v, err := a.Int32(p.name)
			if err != nil {
				return g, err
			}
			if v < 0 {
				return g, a.errorf(p.name, "%d is negative", v)
			}
			*p.dst = int(v)
		}
	}
	var err error
	if g.OutH, err = outSize(g.H, g.KH, g.StrideH, g.DilationH, g.Top, g.Bottom); err != nil {
		return g, fmt.Errorf("%s: height: %w", a.Op.Type, err)
	}
	if g.OutW, err = outSize(g.W, g.KW, g.StrideW, g.DilationW, g.Left, g.Right); err != nil {
		return g, fmt.Errorf("%s: width: %w", a.Op.Type, err)
	}
	return g, nil
}

// samePadding is the padding of the scheme SAME; the odd one goes to the tail.
func samePadding(in, k, stride, dil int) (head, tail int) {
	out := (in + stride - 1) / stride
	total := max((out-1)*stride+(k-1)*dil+1-in, 0)
	return total / 2, total - total/2
}

func outSize(in, k, stride, dil, head, tail int) (int, error) {
	eff := (k-1)*dil + 1
	room := in - eff + head + tail
	if room < 0 {
		return 0, fmt.Errorf("filter %d (dilation %d) is larger than the padded input %d", k, dil, in+head+tail)
	}
	if room >= nn.MaxElements {
		return 0, fmt.Errorf("padding %d and %d is too large", head, tail)
	}
	return room/stride + 1, nil
}

// image reads the dimensions of a rank 4 input as N, H, W, C.
func (a *Args) image(name string, nchw bool) (n, h, w, c int, err error) {
	d, err := a.Dims(name)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	if len(d) != 4 {
		return 0, 0, 0, 0, a.errorf(name, "rank %d, 4 needed", len(d))
	}
	if nchw {
		return int(d[0]), int(d[2]), int(d[3]), int(d[1]), nil
	}
	return int(d[0]), int(d[1]), int(d[2]), int(d[3]), nil
}

// imageDims is the shape of an image in the given layout.
func imageDims(n, h, w, c int, nchw bool) []uint32 {
	if nchw {
		return []uint32{uint32(n), uint32(c), uint32(h), uint32(w)}
	}
	return []uint32{uint32(n), uint32(h), uint32(w), uint32(c)}
}
