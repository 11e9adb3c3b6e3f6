package modpy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/numpy"
	"github.com/nnsoc/nnsoc/internal/try"
)

// quantizer converts values between real numbers and a type, in the precision
// that NumPy uses in the original: float32, and float64 for scales per channel.
type quantizer struct {
	ty     *opType
	scales []float64 // per channel
	inner  int       // elements per channel index
}

func newQuantizer(ty *opType) (*quantizer, error) {
	q := &quantizer{ty: ty}
	c := ty.channel
	if c == nil {
		return q, nil
	}
	if c.dim < 0 || c.dim >= len(ty.dims) || len(c.scales) != ty.dims[c.dim] && len(c.scales) != 1 {
		return nil, fmt.Errorf("%d scales for dimension %d of %v", len(c.scales), c.dim, ty.dims)
	}
	q.scales, q.inner = c.scales, 1
	for _, d := range ty.dims[c.dim+1:] {
		q.inner *= d
	}
	return q, nil
}

func (q *quantizer) channelScale(i int) float64 { return q.scales[i/q.inner%len(q.scales)] }

// real is the number that stored value i represents.
func (q *quantizer) real(i int, x float64) float32 {
	v := float32(x) - float32(q.ty.zero)
	if q.ty.scale != 0 {
		v *= float32(q.ty.scale)
	}
	if q.scales != nil {
		v = float32(float64(v) * q.channelScale(i))
	}
	return v
}

// stored is value i in stored form.
func (q *quantizer) stored(i int, v float32) float64 {
	if q.ty.scale != 0 {
		v /= float32(q.ty.scale)
	}
	if q.scales != nil {
		return q.ty.clamp(float64(v)/q.channelScale(i) + float64(q.ty.zero))
	}
	return q.ty.clamp(float64(v + float32(q.ty.zero)))
}

// clamp rounds and saturates a value for the type.
func (ty *opType) clamp(v float64) float64 {
	if !ty.float() {
		v = math.RoundToEven(v)
	}
	switch ty.code {
	case "TENSOR_QUANT8_ASYMM":
		return min(max(v, 0), 255)
	case "TENSOR_QUANT16_ASYMM":
		return min(max(v, 0), 65535)
	case "TENSOR_QUANT8_SYMM_PER_CHANNEL":
		return min(max(v, -127), 127)
	case "TENSOR_QUANT8_ASYMM_SIGNED":
		return min(max(v, -128), 127)
	case "UINT32":
		return max(v, 0)
	}
	return v
}

// dataType converts operands to another data type.
type dataType struct {
	to        string // "" when the targets specify it
	scale     *float64
	zeroPoint *int
}

func makeDataType(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (*variation, error) {
	var to, name, scale, zero starlark.Value
	try.E(starlark.UnpackArgs("DataTypeConverter", args, kwargs, "targetType?", &to, "name?", &name, "scale?", &scale, "zeroPoint?", &zero))
	r := &dataType{}
	if s, ok := to.(starlark.String); ok {
		r.to = string(s)
		if !slices.Contains([]string{"float16", "int32", "quant8", "quant8_signed"}, strings.ToLower(r.to)) {
			return nil, fmt.Errorf("DataTypeConverter: no target type %.40q", r.to)
		}
	}
	if scale != nil && scale != starlark.None {
		f, ok := starlark.AsFloat(scale)
		if !ok {
			return nil, errors.New("DataTypeConverter: the scale is no number")
		}
		r.scale = &f
	}
	if zero != nil && zero != starlark.None {
		i, err := starlark.AsInt32(zero)
		if err != nil {
			return nil, fmt.Errorf("DataTypeConverter: zero point: %w", err)
		}
		r.zeroPoint = &i
	}
	v := &variation{rule: r}
	v.setName(name)
	return v, nil
}

func (*dataType) subgraphs() bool { return true }

func (r *dataType) label(v *variation) (string, error) {
	if r.to != "" {
		return strings.ToLower(r.to), nil
	}
	found := map[string]bool{}
	for _, t := range v.targets {
		if t.nested == nil {
			found[t.code] = true
		}
	}
	if len(found) == 0 {
		return "", errors.New("DataTypeConverter without type and operands")
	}
	for _, n := range []struct{ code, label string }{
		{"TENSOR_QUANT8_SYMM_PER_CHANNEL", "channelQuant8"}, {"TENSOR_QUANT8_ASYMM", "quant8"},
		{"TENSOR_QUANT8_ASYMM_SIGNED", "quant8_signed"}, {"TENSOR_INT32", "int32"}, {"TENSOR_FLOAT16", "float16"},
	} {
		if found[n.code] {
			return n.label, nil
		}
	}
	return "float32", nil
}

// auto selects all float32 operands, and those of referenced models.
func (r *dataType) auto(v *variation, m *model) error {
	if r.to == "" {
		return nil
	}
	tensor, scalar := target{code: "TENSOR_" + strings.ToUpper(r.to)}, target{code: strings.ToUpper(r.to)}
	quant := r.to == "quant8" || r.to == "quant8_signed"
	if quant {
		if r.scale == nil || r.zeroPoint == nil {
			return fmt.Errorf("DataTypeConverter to %s needs scale and zeroPoint", r.to)
		}
		tensor.code = "TENSOR_QUANT8_ASYMM"
		if r.to == "quant8_signed" {
			tensor.code = "TENSOR_QUANT8_ASYMM_SIGNED"
		}
		tensor.tail = []starlark.Value{starlark.Float(*r.scale), starlark.MakeInt(*r.zeroPoint)}
	}
	v.targets = map[string]target{}
	for _, o := range m.operands {
		switch {
		case o.typ.code == "SUBGRAPH":
			v.targets[o.name] = target{nested: &variation{class: v.class, name: v.name, named: v.named, rule: r}}
		case o.typ.code == "TENSOR_FLOAT32":
			v.targets[o.name] = tensor
		case o.typ.code == "FLOAT32" && !quant:
			v.targets[o.name] = scalar
		}
	}
	return nil
}

// nest applies the conversion of a reference to the model behind it.
func (*dataType) nest(v *variation, o *operand, to target, depth int) error {
	if to.nested == nil {
		return nil
	}
	if o.sub == nil {
		return fmt.Errorf("operand %s refers to no model", o.name)
	}
	return to.nested.applyTo(o.sub, depth+1)
}

func (r *dataType) apply(v *variation, m *model, targets []*operand) error {
	for _, o := range targets {
		to := v.targets[o.name]
		if to.nested != nil {
			continue
		}
		if to.code == "" {
			return fmt.Errorf("operand %s is not told what it becomes", o.name)
		}
		if err := o.convert(to); err != nil {
			return fmt.Errorf("operand %s: %w", o.name, err)
		}
	}
	return nil
}

// convert changes the type, and the value so that it means the same.
func (o *operand) convert(to target) (err error) {
	defer try.Catch(&err)
	ty := opType{code: to.code, dims: o.typ.dims}
	try.E(ty.quantize(to.tail))
	old := o.typ
	o.typ = ty
	if o.value == nil || old.elements() == 0 {
		return nil
	}
	if len(o.value) != old.elements() {
		return fmt.Errorf("%d values for the dimensions %v", len(o.value), old.dims)
	}
	from := try.V(newQuantizer(&old))
	into := try.V(newQuantizer(&ty))
	out := make([]float64, len(o.value))
	for i, x := range o.value {
		out[i] = into.stored(i, from.real(i, x))
	}
	o.value = out
	return nil
}

// permute reorders the axes of the type and value: axis i was perm[i].
func (o *operand) permute(perm []int) error {
	old := o.typ
	dims := make([]int, len(perm))
	for i, p := range perm {
		dims[i] = old.dims[p]
	}
	o.typ = opType{code: old.code, dims: dims, scale: old.scale, zero: old.zero}
	if o.value == nil || old.elements() == 0 {
		return nil
	}
	a, err := o.asArray(old.dims)
	if err != nil {
		return err
	}
	if a, err = a.Transpose(perm); err != nil {
		return err
	}
	o.value = a.Flat()
	return nil
}

// asArray is the value as an array of a shape.
func (o *operand) asArray(dims []int) (*numpy.Array, error) {
	a, err := numpy.View(o.value, dims)
	if err != nil {
		return nil, fmt.Errorf("operand %s: %w", o.name, err)
	}
	return a, nil
}

// layout converts between NHWC and NCHW.
type layout string

func makeLayout(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (*variation, error) {
	to := "nchw"
	var name starlark.Value
	try.E(starlark.UnpackArgs("DataLayoutConverter", args, kwargs, "targetLayout?", &to, "name?", &name))
	if to = strings.ToLower(to); to != "nchw" && to != "nhwc" {
		return nil, fmt.Errorf("DataLayoutConverter: no layout %.40q", to)
	}
	v := &variation{rule: layout(to)}
	v.setName(name)
	return v, nil
}

func (l layout) label(*variation) (string, error) { return string(l), nil }
func (layout) subgraphs() bool                    { return false }

func (l layout) apply(_ *variation, m *model, targets []*operand) error {
	perm := []int{0, 3, 1, 2}
	if l == "nhwc" {
		perm = []int{0, 2, 3, 1}
	}
	for _, o := range targets {
		switch {
		case len(o.typ.dims) == 4:
			if err := o.permute(perm); err != nil {
				return err
			}
		case len(o.typ.dims) == 1 && len(o.value) == 4: // a list of dimensions
			v := make([]float64, 4)
			for i, p := range perm {
				v[i] = o.value[p]
			}
			o.value = v
		case o.typ.code == "BOOL":
			o.value = []float64{float64(builtin.BoolToInt(l == "nchw"))}
		default:
			return fmt.Errorf("DataLayoutConverter does not apply to %s", o.name)
		}
	}
	return nil
}

// axisRule moves an axis and removes others.
type axisRule struct {
	origin, target, dim int
	drop                []int
}

func newAxis(origin, to, dim int, drop []int) (*variation, error) {
	if dim < 1 || dim > 64 || origin < -dim || origin >= dim || to < -dim || to >= dim {
		return nil, fmt.Errorf("axis %d cannot become axis %d of %d", origin, to, dim)
	}
	r := &axisRule{origin: origin, target: to, dim: dim}
	for _, d := range drop {
		if d < -dim || d >= dim {
			return nil, fmt.Errorf("axis %d of %d cannot be dropped", d, dim)
		}
		if d < 0 {
			d += dim
		}
		if d == to || d == to+dim {
			return nil, fmt.Errorf("the axis %d itself cannot be dropped", d)
		}
		r.drop = append(r.drop, d)
	}
	return &variation{class: "AxisConverter", rule: r}, nil
}

func makeAxis(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (*variation, error) {
	var origin, to, dim int
	var drop, name starlark.Value
	try.E(starlark.UnpackArgs("AxisConverter", args, kwargs, "origin", &origin, "target", &to, "dim", &dim, "drop?", &drop, "name?", &name))
	var list []int
	if drop != nil {
		list = try.V(builtin.Ints(t, drop))
	}
	v := try.V(newAxis(origin, to, dim, list))
	v.setName(name)
	return v, nil
}

func (r *axisRule) label(*variation) (string, error) {
	axis, neg := r.target, ""
	if axis < 0 {
		axis, neg = axis+r.dim, "_neg"
	}
	return fmt.Sprintf("dim%d_axis%d%s", r.dim-len(r.drop), axis-r.dropped(axis), neg), nil
}

// dropped counts the dropped axes before one.
func (r *axisRule) dropped(axis int) int {
	n := 0
	for _, d := range r.drop {
		n += builtin.BoolToInt(d < axis)
	}
	return n
}

func (*axisRule) subgraphs() bool { return false }

func (r *axisRule) apply(_ *variation, m *model, targets []*operand) error {
	var perm []int
	for i := range r.dim {
		if i != (r.origin+r.dim)%r.dim {
			perm = append(perm, i)
		}
	}
	to := (r.target + r.dim) % r.dim
	perm = slices.Insert(perm, to, (r.origin+r.dim)%r.dim)
	for _, o := range targets {
		switch {
		case o.typ.code == "INT32":
			v := r.target
			if v >= 0 {
				v -= r.dropped(v)
			} else {
				for _, d := range r.drop {
					v += builtin.BoolToInt(d > r.target+r.dim)
				}
			}
			o.value = []float64{float64(v)}
		case len(o.typ.dims) == r.dim:
			if err := o.permute(perm); err != nil {
				return err
			}
			if err := o.dropAxes(r.drop); err != nil {
				return err
			}
		default:
			return fmt.Errorf("AxisConverter does not apply to %s", o.name)
		}
	}
	return nil
}

// dropAxes keeps index 0 of the axes.
func (o *operand) dropAxes(drop []int) error {
	key := make(starlark.Tuple, len(o.typ.dims))
	var dims []int
	for i, d := range o.typ.dims {
		key[i] = builtin.All
		if slices.Contains(drop, i) {
			key[i] = builtin.NewSlice(starlark.None, starlark.MakeInt(1), starlark.None)
		} else {
			dims = append(dims, d)
		}
	}
	if o.value != nil {
		a, err := o.asArray(o.typ.dims)
		if err != nil {
			return err
		}
		v, err := a.At(nil, key)
		if err != nil {
			return err
		}
		if b, ok := v.(*numpy.Array); ok {
			o.value = b.Flat()
		}
	}
	o.typ.dims = dims
	return nil
}

// activation sets an activation code and applies it to expected outputs.
type activation string

// activations are code, low and high bound.
var activations = map[activation][3]float64{
	"none":  {0, math.Inf(-1), math.Inf(1)},
	"relu":  {1, 0, math.Inf(1)},
	"relu1": {2, -1, 1},
	"relu6": {3, 0, 6},
}

func makeActivation(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (*variation, error) {
	act := "relu"
	var name starlark.Value
	try.E(starlark.UnpackArgs("ActivationConverter", args, kwargs, "act?", &act, "name?", &name))
	a := activation(strings.ToLower(act))
	if _, ok := activations[a]; !ok {
		return nil, fmt.Errorf("ActivationConverter: no activation %.40q", act)
	}
	v := &variation{rule: a}
	v.setName(name)
	return v, nil
}

func (a activation) label(*variation) (string, error) { return string(a), nil }
func (activation) subgraphs() bool                    { return false }

func (a activation) apply(_ *variation, m *model, targets []*operand) error {
	info := activations[a]
	for _, o := range targets {
		if o.typ.code == "INT32" {
			o.value = []float64{info[0]}
			continue
		}
		if !o.is("Output") {
			return fmt.Errorf("ActivationConverter does not apply to %s", o.name)
		}
		out := slices.Clone(o.value)
		for i, x := range out {
			for j, pick := range []func(x, y float64) float64{math.Max, math.Min} {
				if b := info[1+j]; !math.IsInf(b, 0) {
					if o.typ.scale != 0 {
						b /= o.typ.scale
					}
					x = pick(x, o.typ.clamp(b+float64(o.typ.zero)))
				}
			}
			out[i] = x
		}
		o.value = out
	}
	return nil
}
