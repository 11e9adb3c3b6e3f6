package modpy

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// errSkip drops a combination of variations that does not apply to the model.
var errSkip = errors.New("the variation does not apply")

// target is the parameter of a variation for one operand.
type target struct {
	code   string // of a data type
	tail   []starlark.Value
	nested *variation // of a reference to a model
}

// variation changes a copy of an example's model. One of rules implements it.
type variation struct {
	class   string
	name    string
	named   bool
	targets map[string]target // by operand; nil until identified
	rule    rule
}

// rule is the kind of a variation.
type rule interface {
	// label is the default name.
	label(v *variation) (string, error)
	// apply changes m, given v.targets in order of names.
	apply(v *variation, m *model, targets []*operand) error
	// subgraphs reports whether models with references to others are allowed.
	subgraphs() bool
}

func (v *variation) String() string        { return "<" + v.class + ">" }
func (v *variation) Type() string          { return v.class }
func (v *variation) Freeze()               {}
func (v *variation) Truth() starlark.Bool  { return true }
func (v *variation) Hash() (uint32, error) { return starlark.String(v.class).Hash() }
func (v *variation) AttrNames() []string {
	return []string{"Identify", "IdentifyOperands", "SetToDefaultName", "name"}
}

// Attr returns the methods of a variation.
func (v *variation) Attr(name string) (starlark.Value, error) {
	switch name {
	case "name":
		if !v.named {
			return starlark.None, nil
		}
		return starlark.String(v.name), nil
	case "SetToDefaultName":
		return builtin.Fixed(name, 0, func(*starlark.Thread, starlark.Tuple) (starlark.Value, error) {
			label, err := v.rule.label(v)
			v.name, v.named = label, true
			return v, err
		}), nil
	case "Identify", "IdentifyOperands":
		return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var operands, params starlark.Value
			try.E(starlark.UnpackArgs(name, args, kwargs, "operandArgs?", &operands, "paramArgs?", &params))
			return v, v.identify(t, operands)
		}), nil
	}
	return nil, nil
}

// identify sets the operands to change: a sequence, or a dictionary with the replacement of each.
func (v *variation) identify(t *starlark.Thread, x starlark.Value) error {
	if x == nil || x == starlark.None {
		return nil
	}
	d, ok := x.(*starlark.Dict)
	v.targets = map[string]target{}
	if !ok {
		return builtin.Iterate(t, x, func(e starlark.Value) error {
			o, ok := e.(*operand)
			if !ok {
				return fmt.Errorf("a %s is no operand", e.Type())
			}
			v.targets[o.name] = target{}
			return nil
		})
	}
	if err := builtin.Charge(t, d.Len()); err != nil {
		return err
	}
	for _, e := range d.Items() {
		o, ok := e[0].(*operand)
		if !ok {
			return fmt.Errorf("a %s is no operand", e[0].Type())
		}
		var to target
		switch a := e[1].(type) {
		case *variation:
			to.nested = a
		case starlark.NoneType:
		default:
			list, err := builtin.Elements(t, a)
			if err != nil {
				return fmt.Errorf("operand %s: %w", o.name, err)
			}
			var code starlark.String
			if len(list) > 0 {
				code, ok = list[0].(starlark.String)
			}
			if len(list) == 0 || len(list) > 4 || !ok {
				return fmt.Errorf("operand %s becomes [type, scale, zero point], not this", o.name)
			}
			to = target{code: string(code), tail: list[1:]}
		}
		v.targets[o.name] = to
	}
	return nil
}

// applyTo changes m and keeps the operands that it identified itself as targets.
func (v *variation) applyTo(m *model, depth int) error {
	if depth > 16 {
		return errors.New("models refer to each other deeper than 16")
	}
	if !v.rule.subgraphs() {
		for _, o := range m.operands {
			if o.lifetime == nn.LifetimeSubgraph {
				return fmt.Errorf("variation %s does not apply to models with references to models", v.class)
			}
		}
	}
	if a, ok := v.rule.(interface {
		auto(v *variation, m *model) error
	}); ok && len(v.targets) == 0 {
		if err := a.auto(v, m); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(v.targets))
	for name := range v.targets {
		names = append(names, name)
	}
	sort.Strings(names)
	list := make([]*operand, len(names))
	for i, name := range names {
		at, ok := m.at[name]
		if !ok {
			return fmt.Errorf("variation %s names %s, which the model does not have", v.class, name)
		}
		list[i] = m.operands[at]
	}
	if n, ok := v.rule.(nester); ok {
		for i, o := range list {
			if err := n.nest(v, o, v.targets[names[i]], depth); err != nil {
				return err
			}
		}
	}
	return v.rule.apply(v, m, list)
}

// nester is a rule that applies to referenced models.
type nester interface {
	nest(v *variation, o *operand, to target, depth int) error
}

// variationClasses are the constructors of variations.
var variationClasses = map[string]func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (*variation, error){
	"DataTypeConverter":            makeDataType,
	"DataLayoutConverter":          makeLayout,
	"RelaxedModeConverter":         makeRelaxed,
	"ActivationConverter":          makeActivation,
	"AxisConverter":                makeAxis,
	"DefaultVariation":             plain(defaultRule{}),
	"AllTensorsAsInputsConverter":  plain(tensorsAsInputs{}),
	"AllInputsAsInternalCoverter":  plain(inputsAsInternal{}),
	"AllInputsAsInternalConverter": plain(inputsAsInternal{}),
	// The generator's own spelling is the first of each pair.
	"AllOutputsAsInternalCoverter":  plain(outputsAsInternal{}),
	"AllOutputsAsInternalConverter": plain(outputsAsInternal{}),
	"ParameterAsInputConverter":     plain(parameterAsInput{}),
}

func plain(r rule) func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (*variation, error) {
	return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (*variation, error) {
		v := &variation{rule: r}
		var name starlark.Value
		err := starlark.UnpackArgs("variation", args, kwargs, "name?", &name)
		v.setName(name)
		return v, err
	}
}

func (v *variation) setName(name starlark.Value) {
	if s, ok := name.(starlark.String); ok {
		v.name, v.named = string(s), true
	}
}

// implicitVariation makes a variation of a name, or of [name, operands...].
func implicitVariation(t *starlark.Thread, x starlark.Value) (*variation, error) {
	if v, ok := x.(*variation); ok {
		return v, nil
	}
	list := []starlark.Value{x}
	switch x.(type) {
	case *starlark.List, starlark.Tuple:
		var err error
		if list, err = builtin.Elements(t, x); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, errors.New("an empty list is no variation")
	}
	s, ok := list[0].(starlark.String)
	if !ok {
		return nil, fmt.Errorf("a %s is no variation", list[0].Type())
	}
	var v *variation
	name := strings.ToLower(string(s))
	switch name {
	case "float16", "int32", "quant8", "quant8_signed":
		v = &variation{class: "DataTypeConverter", rule: &dataType{to: string(s)}}
	case "relaxed":
		v = &variation{class: "RelaxedModeConverter", rule: relaxedMode(true)}
	case "nhwc", "nchw":
		v = &variation{class: "DataLayoutConverter", rule: layout(name)}
	case "none", "relu", "relu1", "relu6":
		v = &variation{class: "ActivationConverter", rule: activation(name)}
	case "as_input":
		v = &variation{class: "ParameterAsInputConverter", rule: parameterAsInput{}}
	default:
		return nil, fmt.Errorf("no variation %.40q", string(s))
	}
	if len(list) > 1 {
		return v, v.identify(t, list[1])
	}
	return v, nil
}

// defaultRule changes nothing.
type defaultRule struct{}

func (defaultRule) label(*variation) (string, error)                 { return "", nil }
func (defaultRule) apply(_ *variation, _ *model, _ []*operand) error { return nil }
func (defaultRule) subgraphs() bool                                  { return true }

// relaxedMode sets or clears the permission to compute with half precision.
type relaxedMode bool

func makeRelaxed(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (*variation, error) {
	var on, name starlark.Value
	err := starlark.UnpackArgs("RelaxedModeConverter", args, kwargs, "isRelaxed?", &on, "name?", &name)
	v := &variation{rule: relaxedMode(on == nil || bool(on.Truth()))}
	v.setName(name)
	return v, err
}

func (r relaxedMode) label(*variation) (string, error) {
	if r {
		return "relaxed", nil
	}
	return "float", nil
}

func (r relaxedMode) apply(_ *variation, m *model, _ []*operand) error {
	m.relaxed = bool(r)
	return nil
}

func (relaxedMode) subgraphs() bool { return true }

// convertTo changes the operand to another class, keeping its name.
func (o *operand) convertTo(class string, life nn.Lifetime) *operand {
	c := *o
	c.class, c.lifetime = class, life
	if class == "Internal" {
		c.value = nil
	}
	return &c
}

// tensorsAsInputs makes inputs of all constant tensors.
type tensorsAsInputs struct{}

func (tensorsAsInputs) label(*variation) (string, error) { return "all_tensors_as_inputs", nil }
func (tensorsAsInputs) subgraphs() bool                  { return true }

func (tensorsAsInputs) apply(_ *variation, m *model, _ []*operand) error {
	if len(m.ops) != 1 {
		return errSkip
	}
	found := false
	for _, o := range m.operands {
		// Vectors made of Python lists stay constant, as in the original.
		if o.class == "Parameter" && !o.typ.scalar() && o.value != nil {
			m.replace(o.convertTo("Input", nn.SubgraphInput))
			found = true
		}
	}
	if !found {
		return errSkip
	}
	return nil
}

// parameterAsInput makes inputs of the given parameters.
type parameterAsInput struct{}

func (parameterAsInput) label(*variation) (string, error) { return "weight_as_input", nil }
func (parameterAsInput) subgraphs() bool                  { return false }

func (parameterAsInput) apply(_ *variation, m *model, targets []*operand) error {
	for _, o := range targets {
		if !o.is("Parameter") {
			return fmt.Errorf("ParameterAsInputConverter does not apply to %s", o.name)
		}
		m.replace(o.convertTo("Input", nn.SubgraphInput))
	}
	return nil
}

// suitsAdd reports whether the operand can be an input of ADD.
func (o *operand) suitsAdd() bool {
	if len(o.typ.dims) > 4 || len(o.value) == 0 {
		return false
	}
	switch o.typ.code {
	case "TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED":
		return true
	}
	return false
}

// addZero appends from + 0 = to.
func (m *model) addZero(from, to *operand) {
	e := m.env
	ty := opType{code: from.typ.code, dims: []int{1}, scale: from.typ.scale, zero: from.typ.zero}
	zero := e.constant(e.newOperand("Parameter", "placeholder", ty), false)
	zero.value = []float64{float64(ty.zero)}
	act := e.constant(e.newOperand("Int32Scalar", "param", opType{code: "INT32"}), false)
	act.value = []float64{0}
	m.ops = append(m.ops, operation{"ADD", []string{from.name, zero.name, act.name}, []string{to.name}})
	for _, o := range []*operand{from, zero, act, to} {
		m.addOperand(o)
	}
}

// inputsAsInternal puts an ADD of zero before each input that allows it.
type inputsAsInternal struct{}

func (inputsAsInternal) label(*variation) (string, error) { return "all_inputs_as_internal", nil }
func (inputsAsInternal) subgraphs() bool                  { return true }

func (inputsAsInternal) apply(_ *variation, m *model, _ []*operand) error {
	return m.wrap("Input", func(o *operand) bool { return o.suitsAdd() && !o.noInternal }, func(o *operand) {
		c := o.convertTo("Input", nn.SubgraphInput)
		c.name += "_new"
		m.addZero(c, o)
	})
}

// outputsAsInternal puts an ADD of zero after each output that allows it.
type outputsAsInternal struct{}

func (outputsAsInternal) label(*variation) (string, error) { return "all_outputs_as_internal", nil }
func (outputsAsInternal) subgraphs() bool                  { return true }

func (outputsAsInternal) apply(_ *variation, m *model, _ []*operand) error {
	return m.wrap("Output", (*operand).suitsAdd, func(o *operand) {
		c := o.convertTo("Output", nn.SubgraphOutput)
		c.name += "_new"
		m.addZero(o, c)
	})
}

// wrap applies f to each operand of a class that suits, and makes it internal.
func (m *model) wrap(class string, suits func(*operand) bool, f func(*operand)) error {
	if len(m.ops) != 1 {
		return errSkip
	}
	var list []*operand
	for _, o := range m.operands {
		if o.is(class) && suits(o) {
			list = append(list, o)
		}
	}
	if list == nil {
		return errSkip
	}
	for _, o := range list {
		f(o)
	}
	for _, o := range list {
		m.replace(o.convertTo("Internal", nn.TemporaryVariable))
	}
	return nil
}
