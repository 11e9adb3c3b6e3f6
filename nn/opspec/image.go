package opspec

import (
	"math"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// blockRows exchange elements of images' rows and columns with channels or batches.
var blockRows = []Row{
	{Op: nn.OpDepthToSpace, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Args: strided(readDepthToSpace),
		Work: moved,
		Forms: []Form{
			{V10, "input:T block_size:int32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpSpaceToDepth, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Args: strided(readSpaceToDepth),
		Work: moved,
		Forms: []Form{
			{V10, "input:T block_size:int32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpBatchToSpaceNd, Since: V11, Types: floatQuant11, SameQuant: true, Rank: 4, Args: strided(readBatchToSpace),
		Work: moved,
		Forms: []Form{
			{V11, "input:T block_shape:I32 [1.2 nchw:bool=0]", "output:T"},
		}},
	{Op: nn.OpSpaceToBatchNd, Since: V11, Types: floatQuant11, SameQuant: true, Rank: 4, Args: strided(readSpaceToBatch), Until12: zeroPoint0Until12,
		Work: moved,
		Forms: []Form{
			{V11, "input:T block_shape:I32 paddings:I32 [1.2 nchw:bool=0]", "output:T"},
		}},
}

// imageArgs reads an operation on an image that may be NCHW.
func (a *Args) imageArgs() (s Strided, nchw bool, err error) {
	if s, err = a.strided(); err != nil {
		return
	}
	if len(s.In) != 4 {
		err = a.errorf("input", "rank %d, 4 needed", len(s.In))
		return
	}
	nchw, err = a.Bool("nchw")
	return
}

// readDepthToSpace reads a DEPTH_TO_SPACE.
func readDepthToSpace(a *Args) (Strided, error) {
	s, nchw := try.V2(a.imageArgs())
	n, h, w, c := try.V4(a.image("input", nchw))
	block := try.V(a.Int32("block_size"))
	b := int(block)
	if b < 1 || b > 1<<15 || c%(b*b) != 0 {
		return s, a.errorf("block_size", "%d for %d channels", block, c)
	}
	d := c / (b * b)
	sn, sh, sw, sc := imageStrides(s.In, nchw)
	s.step(n, sn)
	if nchw {
		s.step(d, sc)
	}
	s.step(h, sh)
	s.step(b, b*d*sc)
	s.step(w, sw)
	s.step(b, d*sc)
	if !nchw {
		s.step(d, sc)
	}
	s.Dims = imageDims(n, h*b, w*b, d, nchw)
	return s, nil
}

// readSpaceToDepth reads a SPACE_TO_DEPTH.
func readSpaceToDepth(a *Args) (Strided, error) {
	s, nchw := try.V2(a.imageArgs())
	n, h, w, c := try.V4(a.image("input", nchw))
	block := try.V(a.Int32("block_size"))
	b := int(block)
	if b < 1 || h%b != 0 || w%b != 0 {
		return s, a.errorf("block_size", "%d for an image of %dx%d", block, h, w)
	}
	sn, sh, sw, sc := imageStrides(s.In, nchw)
	s.step(n, sn)
	if !nchw {
		s.step(h/b, b*sh)
		s.step(w/b, b*sw)
	}
	s.step(b, sh)
	s.step(b, sw)
	s.step(c, sc)
	if nchw {
		s.step(h/b, b*sh)
		s.step(w/b, b*sw)
	}
	s.Dims = imageDims(n, h/b, w/b, c*b*b, nchw)
	return s, nil
}

// blockShape reads the two block sizes.
func (a *Args) blockShape() (bh, bw int, err error) {
	b := try.V(a.Int32s("block_shape"))
	if len(b) != 2 || b[0] < 1 || b[1] < 1 || int64(b[0])*int64(b[1]) > nn.MaxElements {
		return 0, 0, a.errorf("block_shape", "%v, two positive sizes needed", b)
	}
	return int(b[0]), int(b[1]), nil
}

// readBatchToSpace reads a BATCH_TO_SPACE_ND.
func readBatchToSpace(a *Args) (Strided, error) {
	s, nchw := try.V2(a.imageArgs())
	n, h, w, c := try.V4(a.image("input", nchw))
	bh, bw := try.V2(a.blockShape())
	if n%(bh*bw) != 0 {
		return s, a.errorf("block_shape", "%dx%d for %d batches", bh, bw, n)
	}
	m := n / (bh * bw)
	sn, sh, sw, sc := imageStrides(s.In, nchw)
	s.step(m, sn)
	if nchw {
		s.step(c, sc)
	}
	s.step(h, sh)
	s.step(bh, bw*m*sn)
	s.step(w, sw)
	s.step(bw, m*sn)
	if !nchw {
		s.step(c, sc)
	}
	s.Dims = imageDims(m, h*bh, w*bw, c, nchw)
	return s, nil
}

// readSpaceToBatch reads a SPACE_TO_BATCH_ND.
func readSpaceToBatch(a *Args) (Strided, error) {
	s, nchw := try.V2(a.imageArgs())
	n, h, w, c := try.V4(a.image("input", nchw))
	bh, bw := try.V2(a.blockShape())
	p := try.V(a.Int32s("paddings"))
	if len(p) != 4 || min(p[0], p[1], p[2], p[3]) < 0 || max(p[0], p[1], p[2], p[3]) > 1<<24 {
		return s, a.errorf("paddings", "%v, four sizes needed", p)
	}
	h += int(p[0]) + int(p[1])
	w += int(p[2]) + int(p[3])
	if h%bh != 0 || w%bw != 0 {
		return s, a.errorf("block_shape", "%dx%d for a padded image of %dx%d", bh, bw, h, w)
	}
	s.Padded, s.Before = imageDims(n, h, w, c, nchw), []int{0, int(p[0]), int(p[2]), 0}
	if nchw {
		s.Before = []int{0, 0, int(p[0]), int(p[2])}
	}
	if nn.Elements(s.Padded) < 0 {
		return s, a.errorf("paddings", "shape %v is too large", s.Padded)
	}
	sn, sh, sw, sc := imageStrides(s.Padded, nchw)
	s.step(bh, sh)
	s.step(bw, sw)
	s.step(n, sn)
	if nchw {
		s.step(c, sc)
	}
	s.step(h/bh, bh*sh)
	s.step(w/bw, bw*sw)
	if !nchw {
		s.step(c, sc)
	}
	s.Dims = imageDims(n*bh*bw, h/bh, w/bw, c, nchw)
	return s, nil
}

// imageStrides are the strides of N, H, W, C of an image.
func imageStrides(dims []uint32, nchw bool) (n, h, w, c int) {
	s := denseStrides(dims)
	if nchw {
		return s[0], s[2], s[3], s[1]
	}
	return s[0], s[1], s[2], s[3]
}

// resizeRows scale images: four taps with weights, or one without.
var resizeRows = []Row{
	{Op: nn.OpResizeBilinear, Since: V10, Types: "F32@1.0 F16@1.2 Q8@1.2 Q8S@1.3", SameQuant: true, Args: resizeArgs,
		Work: WorkRule{Float: 8, Quant: stepsRequant},
		Forms: []Form{
			{V10, "input:T out_width:int32 out_height:int32 [1.2 nchw:bool=0] [1.3 align_corners:bool=0] [1.3 half_pixel_centers:bool=0]", "output:T"},
			{V12, "input:T width_scale:S height_scale:S [1.2 nchw:bool=0] [1.3 align_corners:bool=0] [1.3 half_pixel_centers:bool=0]", "output:T"},
		}},
	{Op: nn.OpResizeNearestNeighbor, Since: V12, Types: floatQuant12, SameQuant: true, Args: resizeArgs, Work: moved, Forms: []Form{
		{V12, "input:T out_width:int32 out_height:int32 nchw:bool [1.3 align_corners:bool=0] [1.3 half_pixel_centers:bool=0]", "output:T"},
		{V12, "input:T width_scale:S height_scale:S nchw:bool [1.3 align_corners:bool=0] [1.3 half_pixel_centers:bool=0]", "output:T"},
	}},
}

var resizeArgs = Arguments[Resize]{Read: readResize, Shapes: one((*Resize).OutputDims)}

// Resize is a RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR.
type Resize struct {
	Input, Output              uint32 // operand indexes
	Type                       nn.OperandType
	N, H, W, C                 int
	OutH, OutW                 int
	NCHW, AlignCorners, Center bool // Center: half_pixel_centers
}

func readResize(a *Args) (Resize, error) {
	r := Resize{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	for _, b := range []struct {
		name string
		dst  *bool
	}{{"nchw", &r.NCHW}, {"align_corners", &r.AlignCorners}, {"half_pixel_centers", &r.Center}} {
		*b.dst = try.V(a.Bool(b.name))
	}
	if r.AlignCorners && r.Center {
		return r, a.errorf("align_corners", "not together with half_pixel_centers")
	}
	r.N, r.H, r.W, r.C = try.V4(a.image("input", r.NCHW))
	for _, s := range []struct {
		size, scale string
		in          int
		dst         *int
	}{{"out_height", "height_scale", r.H, &r.OutH}, {"out_width", "width_scale", r.W, &r.OutW}} {
		if a.Has(s.size) {
			n := try.V(a.Int32(s.size))
			*s.dst = int(n)
		} else {
			f := try.V(a.Float(s.scale))
			n := math.Floor(float64(float32(s.in) * f))
			if !(n <= nn.MaxElements) {
				return r, a.errorf(s.scale, "%v", f)
			}
			*s.dst = int(n)
		}
		if *s.dst < 1 {
			return r, a.errorf("input", "the result would have %d rows or columns", *s.dst)
		}
	}
	if r.H == 0 || r.W == 0 {
		return r, a.errorf("input", "an image of %dx%d", r.H, r.W)
	}
	return r, nil
}

// OutputDims is the shape of the result.
func (r *Resize) OutputDims() []uint32 { return imageDims(r.N, r.OutH, r.OutW, r.C, r.NCHW) }

// image reads the dimensions of a rank 4 input as N, H, W, C.
func (a *Args) image(name string, nchw bool) (n, h, w, c int, err error) {
	d := try.V(a.Dims(name))
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

// ResizeAxis is where output positions of an axis lie in the input: between two
// neighbours, with the weight of the second.
type ResizeAxis struct {
	Lo, Hi []int
	Frac   []float32
}

// Bilinear are the axes of a RESIZE_BILINEAR.
func (r *Resize) Bilinear() (y, x ResizeAxis) {
	return r.bilinear(r.H, r.OutH), r.bilinear(r.W, r.OutW)
}

func (r *Resize) bilinear(in, out int) (a ResizeAxis) {
	scale := r.scale(in, out)
	for i := range out {
		at := float32(i) * scale
		if r.Center {
			at = float32((float32(i)+0.5)*scale) - 0.5
		}
		at = max(at, 0)
		lo := min(int(at), in-1)
		a.Lo, a.Hi, a.Frac = append(a.Lo, lo), append(a.Hi, min(lo+1, in-1)), append(a.Frac, at-float32(lo))
	}
	return a
}

// Nearest are the input positions of a RESIZE_NEAREST_NEIGHBOR along its axes.
func (r *Resize) Nearest() (y, x []int) { return r.nearest(r.H, r.OutH), r.nearest(r.W, r.OutW) }

func (r *Resize) nearest(in, out int) []int {
	scale := r.scale(in, out)
	at := make([]int, out)
	for i := range at {
		x := float32(i)
		if r.Center {
			x += 0.5
		}
		f := float64(x * scale)
		if r.AlignCorners {
			f = math.Round(f)
		}
		at[i] = min(max(int(math.Floor(f)), 0), in-1)
	}
	return at
}

// scale is the distance of samples in the input.
func (r *Resize) scale(in, out int) float32 {
	if r.AlignCorners && out > 1 {
		return float32(in-1) / float32(out-1)
	}
	return float32(in) / float32(out)
}
