package opspec

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

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

// Resize reads a RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR.
func (v View) Resize(op *nn.Operation) (Resize, error) { return Read[Resize](v, op) }

func readResize(a *Args) (Resize, error) {
	r := Resize{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	for _, b := range []struct {
		name string
		dst  *bool
	}{{"nchw", &r.NCHW}, {"align_corners", &r.AlignCorners}, {"half_pixel_centers", &r.Center}} {
		if *b.dst, err = a.Bool(b.name); err != nil {
			return r, err
		}
	}
	if r.AlignCorners && r.Center {
		return r, a.errorf("align_corners", "not together with half_pixel_centers")
	}
	if r.N, r.H, r.W, r.C, err = a.image("input", r.NCHW); err != nil {
		return r, err
	}
	for _, s := range []struct {
		size, scale string
		in          int
		dst         *int
	}{{"out_height", "height_scale", r.H, &r.OutH}, {"out_width", "width_scale", r.W, &r.OutW}} {
		if a.Has(s.size) {
			n, err := a.Int32(s.size)
			if err != nil {
				return r, err
			}
			*s.dst = int(n)
		} else {
			f, err := a.Float(s.scale)
			if err != nil {
				return r, err
			}
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
