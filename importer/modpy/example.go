package modpy

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

// example is a model with values for its inputs and outputs, and the variations
// that multiply it.
type example struct {
	model       *model
	name        string
	pos         syntax.Position
	feeds       []feed
	variations  [][]*variation
	failure     bool
	lifetimes   bool // the variations of constants and inputs are made too
	multinomial float64
}

// feed is a pair of inputs and outputs: dictionaries by operand.
type feed struct{ in, out starlark.Value }

func (e *env) makeExample(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var m, name starlark.Value
	try.E(starlark.UnpackArgs("Example", nil, kwargs, "model?", &m, "name?", &name))
	x := &example{lifetimes: true, pos: t.CallFrame(1).Pos}
	switch m := m.(type) {
	case *model:
		x.model = m
	case nil, starlark.NoneType:
		if len(e.models) == 0 {
			return nil, errors.New("called without a Model")
		}
		x.model = e.models[len(e.models)-1]
	default:
		return nil, fmt.Errorf("a %s is no model", m.Type())
	}
	if s, ok := name.(starlark.String); ok {
		x.name = string(s)
	}
	for _, a := range args {
		switch a := a.(type) {
		case *starlark.Dict:
			f := try.V(x.divide(t, a))
			x.feeds = append(x.feeds, f)
		case starlark.Tuple, *starlark.List:
			l := try.V(builtin.Elements(t, a))
			if len(l) != 2 {
				return nil, fmt.Errorf("%d values where inputs and outputs are needed", len(l))
			}
			x.feeds = append(x.feeds, feed{l[0], l[1]})
		default:
			return nil, fmt.Errorf("a %s is no dictionary of values", a.Type())
		}
	}
	e.examples = append(e.examples, x)
	if len(e.examples) > maxCases {
		return nil, fmt.Errorf("a specification has more than %d examples", maxCases)
	}
	return x, nil
}

// divide splits one dictionary into inputs and outputs of the model as it is now.
func (x *example) divide(t *starlark.Thread, d *starlark.Dict) (feed, error) {
	in, out := new(starlark.Dict), new(starlark.Dict)
	for _, o := range x.model.operands {
		to := in
		if o.is("Output") {
			to = out
		} else if !o.is("Input") {
			continue
		}
		v, ok, err := d.Get(o)
		if err != nil {
			return feed{}, err
		}
		if !ok {
			return feed{}, fmt.Errorf("%s has no value", o.name)
		}
		if err := to.SetKey(o, v); err != nil {
			return feed{}, err
		}
	}
	return feed{in, out}, builtin.Charge(t, len(x.model.operands))
}

func (x *example) String() string        { return "<Example " + x.name + ">" }
func (x *example) Type() string          { return "Example" }
func (x *example) Freeze()               {}
func (x *example) Truth() starlark.Bool  { return true }
func (x *example) Hash() (uint32, error) { return starlark.String(x.name).Hash() }

// exampleMethods add variations or conditions, and return the example.
var exampleMethods = map[string]func(*example, *starlark.Thread, starlark.Tuple, []starlark.Tuple) error{
	"AddVariations":                        (*example).addVariations,
	"AddNchw":                              (*example).addNchw,
	"AddRelaxed":                           (*example).addRelaxed,
	"AddRelu":                              (*example).addRelu,
	"AddAllActivations":                    (*example).addAllActivations,
	"AddAxis":                              (*example).addAxis,
	"AddDims":                              (*example).addDims,
	"AddInput":                             (*example).addInput,
	"AddAllPositiveAxis":                   allAxes(func(dim int) []axes { return axisRange(0, dim) }),
	"AddAllAxis":                           allAxes(func(dim int) []axes { return axisRange(-dim, dim) }),
	"AddAllDims":                           (*example).addAllDims,
	"AddAllDimsAndPositiveAxis":            allAxes(func(dim int) []axes { return axesAndDims(dim, false) }),
	"AddAllDimsAndAxis":                    allAxes(func(dim int) []axes { return axesAndDims(dim, true) }),
	"ExpectFailure":                        (*example).expectFailure,
	"DisableLifeTimeVariation":             (*example).disableLifetime,
	"DisableDynamicOutputShapeVariation":   (*example).nothing,
	"WithMultinomialDistributionTolerance": (*example).withMultinomial,
}

func (x *example) AttrNames() []string {
	var out []string
	for k := range exampleMethods {
		out = append(out, k)
	}
	return out
}

// Attr returns the methods, and the model and name.
func (x *example) Attr(name string) (starlark.Value, error) {
	switch name {
	case "model":
		return x.model, nil
	case "name":
		return starlark.String(x.name), nil
	}
	f, ok := exampleMethods[name]
	if !ok {
		return nil, nil
	}
	return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		try.E(f(x, t, args, kwargs))
		return x, nil
	}), nil
}

func (x *example) nothing(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	return builtin.Arity("this method", args, kwargs, 0, 0)
}

func (x *example) disableLifetime(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	x.lifetimes = false
	return x.nothing(t, args, kwargs)
}

func (x *example) expectFailure(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if x.multinomial != 0 {
		return errors.New("a failure is expected of an example with a tolerance")
	}
	x.failure = true
	return x.nothing(t, args, kwargs)
}

func (x *example) withMultinomial(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if x.failure {
		return errors.New("a tolerance for an example that is expected to fail")
	}
	var v starlark.Value
	if err := starlark.UnpackArgs("WithMultinomialDistributionTolerance", args, kwargs, "expectedTolerance", &v); err != nil {
		return err
	}
	f, ok := starlark.AsFloat(v)
	if !ok {
		return errors.New("a tolerance is a number")
	}
	x.multinomial = f
	return nil
}

// addInput makes inputs of parameters.
func (x *example) addInput(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	include, name := try.V2(options(kwargs, starlark.None))
	v := &variation{class: "ParameterAsInputConverter", rule: parameterAsInput{}}
	try.E(v.identify(t, args))
	return x.addList([]*variation{v}, include, name)
}

// options reads includeDefault and defaultName.
func options(kwargs []starlark.Tuple, defaultName starlark.Value) (include bool, name starlark.Value, err error) {
	include, name = true, defaultName
	err = starlark.UnpackArgs("variations", nil, kwargs, "includeDefault?", &include, "defaultName?", &name)
	return include, name, err
}

// addList appends a dimension of variations, the unchanged model first.
func (x *example) addList(list []*variation, include bool, defaultName starlark.Value) error {
	if len(x.variations) >= 16 {
		return errors.New("an example has more than 16 dimensions of variations")
	}
	if include {
		d := &variation{class: "DefaultVariation", rule: defaultRule{}}
		d.setName(defaultName)
		list = append([]*variation{d}, list...)
	}
	x.variations = append(x.variations, list)
	return nil
}

func (x *example) addVariations(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	include, name := try.V2(options(kwargs, starlark.None))
	var list []*variation
	for _, a := range args {
		v := try.V(implicitVariation(t, a))
		list = append(list, v)
	}
	return x.addList(list, include, name)
}

func (x *example) addNchw(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	include, name := try.V2(options(kwargs, starlark.String("nhwc")))
	v := &variation{class: "DataLayoutConverter", rule: layout("nchw")}
	try.E(v.identify(t, args))
	return x.addList([]*variation{v}, include, name)
}

func (x *example) addRelaxed(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	on, include := true, true
	var name starlark.Value
	try.E(starlark.UnpackArgs("AddRelaxed", args, kwargs, "isRelaxed?", &on, "includeDefault?", &include, "defaultName?", &name))
	return x.addList([]*variation{{class: "RelaxedModeConverter", rule: relaxedMode(on)}}, include, name)
}

func (x *example) addRelu(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	include, name := try.V2(options(kwargs, starlark.None))
	v := &variation{class: "ActivationConverter", rule: activation("relu")}
	try.E(v.identify(t, args))
	return x.addList([]*variation{v}, include, name)
}

func (x *example) addAllActivations(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	var list []*variation
	for _, a := range []activation{"none", "relu", "relu1", "relu6"} {
		v := &variation{class: "ActivationConverter", rule: a}
		try.E(v.identify(t, args))
		list = append(list, v)
	}
	return x.addList(list, false, nil)
}

// axes is an axis to move to, and the axes to drop.
type axes struct {
	to   int
	drop []int
}

func upTo(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}

func axisRange(from, to int) []axes {
	var out []axes
	for a := from; a < to; a++ {
		out = append(out, axes{to: a})
	}
	return out
}

// axesAndDims are all axes of all ranks up to dim.
func axesAndDims(dim int, negative bool) []axes {
	var out []axes
	for i := range dim {
		for j := i; j < dim; j++ {
			out = append(out, axes{j, upTo(i)})
			if negative {
				out = append(out, axes{j - dim, upTo(i)})
			}
		}
	}
	return out
}

// original finds the axis and the rank of an axis operand and tensors.
func original(args starlark.Tuple) (origin, dim int, err error) {
	found := false
	for _, a := range args {
		o, ok := a.(*operand)
		if !ok {
			return 0, 0, fmt.Errorf("a %s is no operand", a.Type())
		}
		if o.typ.code == "INT32" {
			if len(o.value) == 0 {
				return 0, 0, fmt.Errorf("axis %s has no value", o.name)
			}
			origin, found = int(o.value[0]), true
		} else if dim == 0 {
			dim = len(o.typ.dims)
		} else if dim != len(o.typ.dims) {
			return 0, 0, fmt.Errorf("%s has %d dimensions, others have %d", o.name, len(o.typ.dims), dim)
		}
	}
	if dim == 0 {
		return 0, 0, errors.New("no tensor is given")
	}
	if !found {
		origin = dim - 1
	}
	if origin < 0 {
		origin += dim
	}
	if origin < 0 || origin >= dim {
		return 0, 0, fmt.Errorf("axis %d of %d", origin, dim)
	}
	return origin, dim, nil
}

// addAxes appends a variation per element of list.
func (x *example) addAxes(t *starlark.Thread, args starlark.Tuple, origin, dim int, list []axes, include bool, name starlark.Value) error {
	var out []*variation
	for _, a := range list {
		v, err := newAxis(origin, a.to, dim, a.drop)
		if err != nil {
			return err
		}
		if err := v.identify(t, args); err != nil {
			return err
		}
		out = append(out, v)
	}
	return x.addList(out, include, name)
}

func allAxes(list func(dim int) []axes) func(*example, *starlark.Thread, starlark.Tuple, []starlark.Tuple) error {
	return func(x *example, t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
		origin, dim, err := original(args)
		if err != nil {
			return err
		}
		return x.addAxes(t, args, origin, dim, list(dim), false, nil)
	}
}

func (x *example) addAxis(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	include, name := try.V2(options(kwargs, starlark.None))
	if len(args) == 0 {
		return errors.New("AddAxis needs an axis")
	}
	list := try.V(builtin.Ints(t, args[0]))
	origin, dim := try.V2(original(args[1:]))
	var to []axes
	for _, a := range list {
		to = append(to, axes{to: a})
	}
	return x.addAxes(t, args[1:], origin, dim, to, include, name)
}

// keepDims are the axes to drop so that n of dim remain.
func keepDims(origin, dim, drop int) axes {
	all := upTo(dim)
	all = append(all[:origin], all[origin+1:]...)
	return axes{origin, all[:min(max(drop, 0), len(all))]}
}

func (x *example) addDims(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	include, name := try.V2(options(kwargs, starlark.None))
	if len(args) == 0 {
		return errors.New("AddDims needs numbers of dimensions")
	}
	list := try.V(builtin.Ints(t, args[0]))
	origin, dim := try.V2(original(args[1:]))
	var to []axes
	for _, n := range list {
		to = append(to, keepDims(origin, dim, dim-n))
	}
	return x.addAxes(t, args[1:], origin, dim, to, include, name)
}

func (x *example) addAllDims(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) error {
	origin, dim := try.V2(original(args))
	var to []axes
	for i := range dim {
		to = append(to, keepDims(origin, dim, i))
	}
	return x.addAxes(t, args, origin, dim, to, false, nil)
}

// joinNames joins the parts of a test's name that are not empty.
func joinNames(parts []string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "_")
}
