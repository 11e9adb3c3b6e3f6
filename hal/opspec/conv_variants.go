package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// GroupedConv is a GROUPED_CONV_2D: Groups convolutions side by side, each of
// C/Groups input and K/Groups output channels. The filter is
// [K, KH, KW, C/Groups].
type GroupedConv struct {
	Conv
	Groups int
}

// GroupedConv reads a GROUPED_CONV_2D.
func (v View) GroupedConv(op *nn.Operation) (GroupedConv, error) {
	a, err := v.bindAs(op, nn.OpGroupedConv2D)
	if err != nil {
		return GroupedConv{}, err
	}
	c := GroupedConv{Conv: Conv{Input: a.In("input"), Filter: a.In("filter"), Bias: a.In("bias"), Output: op.Outputs[0], Type: a.Key}}
	if c.NCHW, err = a.BoolOr("nchw", false); err != nil {
		return c, err
	}
	n, h, w, ch, err := a.image("input", c.NCHW)
	if err != nil {
		return c, err
	}
	f, err := a.filter()
	if err != nil {
		return c, err
	}
	g, err := a.Int32("groups")
	if err != nil {
		return c, err
	}
	if g < 1 || ch%int(g) != 0 || int(f[0])%int(g) != 0 || int64(f[3])*int64(g) != int64(ch) {
		return c, a.errorf("groups", "%d for %d input channels and a filter of %v", g, ch, f)
	}
	c.N, c.C, c.K, c.Groups = n, ch, int(f[0]), int(g)
	if err := a.bias(c.K); err != nil {
		return c, err
	}
	if c.Window, err = a.window(h, w, int(f[1]), int(f[2])); err != nil {
		return c, err
	}
	c.Act, err = a.activation()
	return c, err
}

// MACs counts the multiply-accumulates.
func (c *GroupedConv) MACs() int64 { return c.Conv.MACs() / int64(c.Groups) }

// filter reads the shape of a filter of rank 4 that is not empty.
func (a *Args) filter() ([]uint32, error) {
	f, err := a.Dims("filter")
	if err != nil {
		return nil, err
	}
	if len(f) != 4 {
		return nil, a.errorf("filter", "rank %d, 4 needed", len(f))
	}
	if nn.Elements(f) == 0 {
		return nil, a.errorf("filter", "shape %v is empty", f)
	}
	return f, nil
}

// bias checks the shape of a bias.
func (a *Args) bias(k int) error {
	b, err := a.Dims("bias")
	if err != nil {
		return err
	}
	if len(b) != 1 || int(b[0]) != k {
		return a.errorf("bias", "shape %v, [%d] needed", b, k)
	}
	return nil
}

// TransposeConv is a TRANSPOSE_CONV_2D: input pixel (y, x) adds its filter to
// the output from (y*StrideH - Top, x*StrideW - Left) on. The filter is
// [K, KH, KW, C]. In Window, H and W are the input, OutH and OutW the output;
// Bottom and Right may be negative.
type TransposeConv struct {
	Conv
}

// TransposeConv reads a TRANSPOSE_CONV_2D.
func (v View) TransposeConv(op *nn.Operation) (TransposeConv, error) {
	a, err := v.bindAs(op, nn.OpTransposeConv2D)
	if err != nil {
		return TransposeConv{}, err
	}
	c := TransposeConv{Conv{Input: a.In("input"), Filter: a.In("filter"), Bias: a.In("bias"), Output: op.Outputs[0], Type: a.Key}}
	if c.NCHW, err = a.BoolOr("nchw", false); err != nil {
		return c, err
	}
	n, h, w, ch, err := a.image("input", c.NCHW)
	if err != nil {
		return c, err
	}
	f, err := a.filter()
	if err != nil {
		return c, err
	}
	if int(f[3]) != ch {
		return c, a.errorf("filter", "depth %d, the input's is %d", f[3], ch)
	}
	c.N, c.C, c.K = n, ch, int(f[0])
	c.H, c.W, c.KH, c.KW, c.DilationH, c.DilationW = h, w, int(f[1]), int(f[2]), 1, 1
	if err := a.bias(c.K); err != nil {
		return c, err
	}
	for _, s := range []struct {
		name string
		dst  *int
	}{{"stride_h", &c.StrideH}, {"stride_w", &c.StrideW}} {
		x, err := a.Int32(s.name)
		if err != nil {
			return c, err
		}
		if x < 1 {
			return c, a.errorf(s.name, "%d is not positive", x)
		}
		*s.dst = int(x)
	}
	if c.Act, err = a.activation(); err != nil {
		return c, err
	}
	if !a.Has("padding") {
		for _, p := range []struct {
			name string
			dst  *int
		}{{"pad_left", &c.Left}, {"pad_right", &c.Right}, {"pad_top", &c.Top}, {"pad_bottom", &c.Bottom}} {
			x, err := a.Int32(p.name)
			if err != nil {
				return c, err
			}
			if x < 0 {
				return c, a.errorf(p.name, "%d is negative", x)
			}
			*p.dst = int(x)
		}
	} else {
		scheme, err := a.Int32("padding")
		if err != nil {
			return c, err
		}
		shape, err := a.Int32s("output_shape")
		if err != nil {
			return c, err
		}
		if len(shape) != 4 || min(shape[0], shape[1], shape[2], shape[3]) < 0 {
			return c, a.errorf("output_shape", "%v, four sizes needed", shape)
		}
		oh, ow := int(shape[1]), int(shape[2])
		if c.NCHW {
			oh, ow = int(shape[2]), int(shape[3])
		}
		switch scheme {
		case nn.PaddingSame:
			c.Top, c.Bottom = transposePadding(oh, c.KH, c.StrideH)
			c.Left, c.Right = transposePadding(ow, c.KW, c.StrideW)
		case nn.PaddingValid:
		default:
			return c, a.errorf("padding", "scheme %d is neither 1 (SAME) nor 2 (VALID)", scheme)
		}
	}
	c.OutH = c.StrideH*(h-1) + c.KH - c.Top - c.Bottom
	c.OutW = c.StrideW*(w-1) + c.KW - c.Left - c.Right
	if c.OutH < 1 || c.OutW < 1 || c.OutH > nn.MaxElements || c.OutW > nn.MaxElements {
		return c, a.errorf("input", "the result would be %dx%d", c.OutH, c.OutW)
	}
	return c, nil
}

// transposePadding is SAME for an output size; the tail fits the last stride
// and may be negative.
func transposePadding(out, k, stride int) (head, tail int) {
	need := ((out+stride-1)/stride-1)*stride + k
	head = max(need-out, 0) / 2
	return head, need - out - head
}

// MACs counts the multiply-accumulates: every input pixel times the filter.
func (c *TransposeConv) MACs() int64 {
	return int64(c.N) * int64(c.H) * int64(c.W) * int64(c.C) * int64(c.K) * int64(c.KH) * int64(c.KW)
}
