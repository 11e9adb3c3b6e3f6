package modpy

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// newOperand registers an operand under a unique name.
func (e *env) newOperand(class, name string, ty opType) *operand {
	return &operand{name: unique(e.names, name, "", 0), class: class, typ: ty, lifetime: nn.TemporaryVariable}
}

// constant finishes a parameter: its lifetime, and the name of its initial value in generated code, which later
// operands may not have.
func (e *env) constant(o *operand, none bool) *operand {
	switch {
	case none:
		o.lifetime = nn.NoValue
	case e.shared:
		o.lifetime = nn.ConstantReference
	default:
		o.lifetime = nn.ConstantCopy
	}
	unique(e.names, o.name+"_init", "", 0)
	return o
}

// scalarCodes are the types of the shortcut parameters.
var scalarCodes = map[string]string{
	"Int32Scalar": "INT32", "Float32Scalar": "FLOAT32", "Float16Scalar": "FLOAT16", "BoolScalar": "BOOL",
	"Int32Vector": "TENSOR_INT32", "Float32Vector": "TENSOR_FLOAT32",
}

// newShortcut makes a parameter whose type follows from its class.
func (e *env) newShortcut(t *starlark.Thread, class, name string, v starlark.Value) (*operand, error) {
	x, err := numbersOf(t, v)
	if err != nil {
		return nil, err
	}
	ty := opType{code: scalarCodes[class]}
	list := starlark.Len(v) >= 0
	if !ty.scalar() {
		if !list {
			return nil, fmt.Errorf("%s %s needs a list", class, name)
		}
		ty.dims = []int{len(x)}
	} else if list {
		if class != "BoolScalar" {
			return nil, fmt.Errorf("%s %s needs one number", class, name)
		}
		x = []float64{float64(builtin.BoolToInt(len(x) > 0))}
	}
	if !ty.float() {
		for i := range x {
			x[i] = math.Trunc(x[i])
		}
	}
	o := e.newOperand(class, name, ty)
	o.value = x
	return e.constant(o, false), nil
}

// newReference makes an operand that refers to a model.
func (e *env) newReference(name string, m *model) *operand {
	o := e.constant(e.newOperand("SubgraphReference", name, opType{code: "SUBGRAPH"}), false)
	o.lifetime, o.sub = nn.LifetimeSubgraph, m
	m.name = cmp.Or(m.name, name)
	return o
}

// implicit makes an operand of a Python value passed to an operation.
func (e *env) implicit(t *starlark.Thread, v starlark.Value) (*operand, error) {
	class := ""
	switch x := v.(type) {
	case *operand:
		return x, nil
	case *model:
		return e.newReference("param", x), nil
	case starlark.Int:
		class = "Int32Scalar"
	case starlark.Float:
		class = "Float32Scalar"
	case starlark.Bool:
		class = "BoolScalar"
	case *starlark.List, starlark.Tuple:
		ints, floats := true, true
		if err := builtin.Iterate(t, v, func(e starlark.Value) error {
			_, isInt := e.(starlark.Int)
			ints, floats = ints && isInt, floats && builtin.IsFloat(e)
			return nil
		}); err != nil {
			return nil, err
		}
		if ints {
			class = "Int32Vector"
		} else if floats {
			class = "Float32Vector"
		} else {
			return nil, errors.New("a list of different types is not an operand")
		}
	default:
		return nil, fmt.Errorf("a %s is not an operand", v.Type())
	}
	return e.newShortcut(t, class, "param", v)
}

// declare is the constructor of Input, Output, Internal and the like:
// (name, type, ...) with the type as a tuple, or as a code and a shape.
func (e *env) declare(class string) builtin.Impl {
	return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var name string
		var kind, shape, value, extra starlark.Value
		var err error
		if class == "Parameter" {
			err = starlark.UnpackArgs(class, args, kwargs, "name", &name, "opType", &kind, "value", &shape, "backward?", &value, "extraParams?", &extra)
		} else {
			err = starlark.UnpackArgs(class, args, kwargs, "name", &name, "opType", &kind, "backward?", &shape, "extraParams?", &extra)
		}
		if err != nil {
			return nil, err
		}
		if _, ok := kind.(starlark.String); !ok {
			value = shape
		}
		channel, _ := extra.(*channels)
		data, ok := extra.(extensionData)
		if channel == nil && !ok && extra != nil && extra != starlark.None {
			return nil, fmt.Errorf("%s %s: extraParams are no %s", class, name, extra.Type())
		}
		ty, err := parseType(t, kind, shape, channel)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", class, name, err)
		}
		ty.extension = string(data)
		o := e.newOperand(class, name, ty)
		switch {
		case class == "Parameter":
			try.E(o.setValue(t, value))
			return e.constant(o, shape == starlark.None), nil
		case o.is("Input"):
			o.lifetime = nn.SubgraphInput
		case o.is("Output"):
			o.lifetime = nn.SubgraphOutput
		}
		return o, nil
	}
}

// classes are the constructors of the specification language.
func (e *env) classes() starlark.StringDict {
	d := starlark.StringDict{}
	def := func(name, parent string, f builtin.Impl) *class {
		c := &class{name: name, make: f}
		d[name] = c
		return c
	}
	for _, name := range []string{"Input", "Output", "IgnoredOutput", "Internal", "Parameter"} {
		def(name, operandParents[name], e.declare(name))
	}
	def("Operand", "", nil)
	for name := range scalarCodes {
		def(name, "Parameter", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var label string
			var v starlark.Value
			try.E(starlark.UnpackArgs(name, args, kwargs, "name", &label, "value", &v))
			return e.newShortcut(t, name, label, v)
		})
	}
	def("SubgraphReference", "Parameter", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var name string
		var v starlark.Value
		try.E(starlark.UnpackArgs("SubgraphReference", args, kwargs, "name", &name, "model", &v))
		m, ok := v.(*model)
		if !ok {
			return nil, fmt.Errorf("SubgraphReference %s refers to a %s", name, v.Type())
		}
		return e.newReference(name, m), nil
	})
	def("SymmPerChannelQuantParams", "", makeChannels)
	def("ExtensionData", "", makeExtensionData)
	def("Model", "", e.makeModel)
	ex := def("Example", "", e.makeExample)
	ex.members = starlark.StringDict{"SetVersion": builtin.Function("SetVersion", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for i, a := range args {
			s, ok := a.(starlark.String)
			if !ok {
				return nil, fmt.Errorf("SetVersion: argument %d is a %s, not a string", i, a.Type())
			}
			if i > 0 {
				e.overrides[string(s)] = string(args[0].(starlark.String))
			}
		}
		return starlark.None, nil
	})}
	conf := def("Configuration", "", nil)
	conf.members = starlark.StringDict{"useSHM": builtin.Fixed("useSHM", 0, func(*starlark.Thread, starlark.Tuple) (starlark.Value, error) {
		return starlark.Bool(e.shared), nil
	})}
	conf.set = func(name string, v starlark.Value) error {
		if name != "use_shm_for_weights" {
			return starlark.NoSuchAttrError(fmt.Sprintf("Configuration has no %q", name))
		}
		e.shared = bool(v.Truth())
		return nil
	}
	for name, f := range variationClasses {
		def(name, "", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			v := try.V(f(t, args, kwargs))
			v.class = name
			return v, nil
		})
	}
	return d
}
