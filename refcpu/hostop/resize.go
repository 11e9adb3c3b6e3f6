package hostop

import (
	"math"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/hostop/resample"
)

// resizeOperators change the size of tensors.
var resizeOperators = []operator{
	// tensor; a region of starts and then ends, scales, and sizes, each of which may be omitted or empty; the coefficient of
	// mode cubic and the value outside of the region, one real each. Attributes: mode, coordinates, rounding and policy as
	// places in the lists of package resample, whether elements outside are excluded, antialiasing, and the axes as bits, 0
	// for all.
	{op: nn.OpHostResize, attributes: 7, unpriced: true, run: resize},
}

// reals is input k as reals, nil where it is omitted.
func (c *call) reals(k int) (list []float32) {
	if !c.has(k) {
		return nil
	}
	t := c.tensor(k)
	try.E(c.x.Charge(int64(t.n()), 4*int64(t.n())))
	for i := range t.n() {
		list = append(list, float32(t.number(i)))
	}
	return list
}

// choice is the entry of a list that attribute k names.
func (c *call) choice(k int, list []string) string {
	if v := c.attributes[k]; v >= 0 && v < len(list) {
		return list[v]
	}
	fail("attribute %d is %d, want less than %d", k, c.attributes[k], len(list))
	return ""
}

func resize(c *call) []tensor {
	x := *c.tensor(0)
	s := resample.Sampling{
		Mode: c.choice(0, resample.Modes), Coordinates: c.choice(1, resample.Coordinates), Nearest: c.choice(2, resample.Roundings),
		Cubic: c.real(4, -0.75), Outside: float32(c.real(5, 0)), ExcludeOutside: c.attributes[4] != 0, Antialias: c.attributes[5] != 0,
	}
	var axes []int64
	for a := range len(x.dims) {
		if c.attributes[6]>>a&1 != 0 {
			axes = append(axes, int64(a))
		}
	}
	var list []resample.Axis
	var err error
	if scales := c.reals(2); len(scales) > 0 {
		list, err = resample.Scaled(x.dims, scales, axes)
	} else {
		list, err = resample.Sized(x.dims, c.list(3), axes, c.choice(3, resample.Policies))
	}
	try.E(err)
	if s.Coordinates == "tf_crop_and_resize" {
		try.E(resample.Crop(list, c.reals(1), axes))
	}
	try.E(resample.Check(list))
	if s.Mode != "nearest" && len(list) > 0 {
		x = c.floating(&x)
	}
	for a := range list {
		try.E(c.x.Charge(list[a].In*list[a].Out, 16*list[a].In*list[a].Out))
		if s.Mode == "nearest" {
			places, err := list[a].NearestIndices(s)
			try.E(err)
			x = c.along(x, a, places)
			continue
		}
		m, err := list[a].Weights(s)
		try.E(err)
		if m != nil {
			x = c.mixed(x, a, m, list[a].Bias(s))
		}
	}
	return []tensor{c.rounded(&x, c.tensor(0))}
}

// along is taken for places of another integer type, nil for all in order.
func (c *call) along(x tensor, axis int, places []int64) tensor {
	if places == nil {
		return x
	}
	list := make([]int, len(places))
	for i, p := range places {
		list[i] = int(p)
	}
	return c.taken(&x, x.dims, axis, list)
}

// floating is a tensor's numbers in float32.
func (c *call) floating(x *tensor) tensor {
	y := c.make(&tensor{kind: nn.TensorFloat32}, x.dims)
	for i := range x.n() {
		y.putNumber(i, x.number(i))
	}
	return y
}

// mixed multiplies an axis with a matrix [out, in] and adds a bias [out].
func (c *call) mixed(x tensor, axis int, m, bias []float32) tensor {
	dims := append([]uint32(nil), x.dims...)
	in := int(dims[axis])
	dims[axis] = uint32(len(bias))
	outer, inner := split(dims, axis)
	y := c.make(&x, dims)
	try.E(c.x.Charge(int64(y.n())*int64(in), 0))
	for o := range outer {
		for i, b := range bias {
			for k := range inner {
				sum := 0.0
				for j, w := range m[i*in : (i+1)*in] {
					if w != 0 {
						sum += float64(w) * x.number((o*in+j)*inner+k)
					}
				}
				y.putNumber((o*len(bias)+i)*inner+k, sum+float64(b))
			}
		}
	}
	return y
}

// rounded are numbers in the type of another tensor, rounded to its nearest.
func (c *call) rounded(x, as *tensor) tensor {
	if x.kind == as.kind {
		return *x
	}
	y := c.make(as, x.dims)
	for i := range x.n() {
		v := x.number(i)
		switch as.kind {
		case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
			lo, hi := 0.0, 255.0
			if as.kind == nn.TensorQuant8AsymmSigned {
				lo, hi = -128, 127
			}
			v = min(max(math.Round(v/float64(as.scale))+float64(as.zero), lo), hi)
			y.put(i, int64(v))
		default:
			y.putNumber(i, v)
		}
	}
	return y
}
