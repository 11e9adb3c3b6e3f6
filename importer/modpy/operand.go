package modpy

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/numpy"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// class is a constructor that specifications can also name in isinstance.
type class struct {
	name    string
	make    builtin.Impl
	members starlark.StringDict // static methods
	set     func(name string, v starlark.Value) error
}

func (c *class) String() string        { return "<class " + c.name + ">" }
func (c *class) Type() string          { return "class" }
func (c *class) Name() string          { return c.name }
func (c *class) Freeze()               {}
func (c *class) Truth() starlark.Bool  { return true }
func (c *class) Hash() (uint32, error) { return 0, errors.New("a class is not hashable") }
func (c *class) AttrNames() []string   { return builtin.NewNamespace(c.name, c.members).AttrNames() }

func (c *class) Attr(name string) (starlark.Value, error) {
	if v, ok := c.members[name]; ok {
		return v, nil
	}
	return nil, starlark.NoSuchAttrError(fmt.Sprintf("%s has no %q", c.name, name))
}

// SetField is an assignment to a member of the class.
func (c *class) SetField(name string, v starlark.Value) error {
	if c.set == nil {
		return starlark.NoSuchAttrError(fmt.Sprintf("%s.%s cannot be assigned to", c.name, name))
	}
	return c.set(name, v)
}

func (c *class) CallInternal(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if c.make == nil {
		return nil, fmt.Errorf("%s cannot be called", c.name)
	}
	return c.make.Call(t, args, kwargs)
}

// operandParents is the hierarchy of operand classes.
var operandParents = map[string]string{
	"Input": "InOut", "Output": "InOut", "IgnoredOutput": "Output", "InOut": "Operand", "Internal": "Operand",
	"Parameter": "Operand", "Int32Scalar": "Parameter", "Float32Scalar": "Parameter", "Float16Scalar": "Parameter",
	"BoolScalar": "Parameter", "Int32Vector": "Parameter", "Float32Vector": "Parameter", "SubgraphReference": "Parameter",
}

func descends(from, to string) bool {
	for ; from != ""; from = operandParents[from] {
		if from == to {
			return true
		}
	}
	return false
}

// isClass reports whether v is an instance of the class k.
func isClass(v, k starlark.Value) bool {
	c, ok := k.(*class)
	if !ok {
		return false
	}
	switch v := v.(type) {
	case *operand:
		return descends(v.class, c.name)
	case *model:
		return c.name == "Model"
	case *example:
		return c.name == "Example"
	case *variation:
		return c.name == v.class
	}
	return false
}

// channels are the parameters of a tensor quantized per channel.
type channels struct {
	dim      int
	scales   []float64
	unlisted bool // not part of the model
}

func (c *channels) String() string       { return "<SymmPerChannelQuantParams>" }
func (c *channels) Type() string         { return "SymmPerChannelQuantParams" }
func (c *channels) Freeze()              {}
func (c *channels) Truth() starlark.Bool { return true }
func (c *channels) Hash() (uint32, error) {
	return 0, errors.New("quantization parameters are not hashable")
}

func makeChannels(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	c := &channels{}
	var scales starlark.Value
	try.E(starlark.UnpackArgs("SymmPerChannelQuantParams", args, kwargs, "channelDim", &c.dim, "scales", &scales, "hide?", &c.unlisted))
	v, err := numbersOf(t, scales)
	c.scales = v
	return c, err
}

// extensionData is the data of an operand of an extension's type. AOSP's specifications have none; those written by
// this project do.
type extensionData string

func (extensionData) String() string        { return "<ExtensionData>" }
func (extensionData) Type() string          { return "ExtensionData" }
func (extensionData) Freeze()               {}
func (extensionData) Truth() starlark.Bool  { return true }
func (extensionData) Hash() (uint32, error) { return 0, errors.New("extension data is not hashable") }

// makeExtensionData reads the bytes in hexadecimal.
func makeExtensionData(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text string
	try.E(starlark.UnpackArgs("ExtensionData", args, kwargs, "data", &text))
	b, err := hex.DecodeString(text)
	return extensionData(b), err
}

// opType is the type of an operand.
type opType struct {
	code    string
	dims    []int
	scale   float64
	zero    int
	channel *channels
	// extension is the extension data of a type of an extension.
	extension string
}

func (ty *opType) float() bool {
	return strings.HasSuffix(ty.code, "FLOAT32") || strings.HasSuffix(ty.code, "FLOAT16")
}
func (ty *opType) scalar() bool { return !strings.HasPrefix(ty.code, "TENSOR_") }

func (ty *opType) elements() int {
	n := 1
	for _, d := range ty.dims {
		n *= d
		if n > builtin.MaxValues {
			return n
		}
	}
	return n
}

// operand is a value of a model. Its name is unique in a specification;
// copies of a model have operands of the same names.
type operand struct {
	name       string
	class      string
	typ        opType
	value      []float64 // nil is None
	sub        *model    // of a SUBGRAPH
	lifetime   nn.Lifetime
	noInternal bool
	ref        int // of a SUBGRAPH, once compiled
}

// is reports whether the operand is of a class or one derived from it.
func (o *operand) is(class string) bool { return descends(o.class, class) }

func (o *operand) String() string       { return o.name }
func (o *operand) Type() string         { return o.class }
func (o *operand) Freeze()              {}
func (o *operand) Truth() starlark.Bool { return true }

// Hash is of the name.
func (o *operand) Hash() (uint32, error) {
	h := fnv.New32a()
	h.Write([]byte(o.name))
	return h.Sum32(), nil
}

var operandAttrs = []string{"ShouldNeverBeInternal", "lifetime", "name", "type", "value", "SetValue"}

func (o *operand) AttrNames() []string { return operandAttrs }

// Attr returns the attributes of an operand that specifications read.
func (o *operand) Attr(name string) (starlark.Value, error) {
	switch name {
	case "name":
		return starlark.String(o.name), nil
	case "lifetime":
		return starlark.String(o.lifetime.String()), nil
	case "value":
		if o.value == nil {
			return starlark.None, nil
		}
		out := make([]starlark.Value, len(o.value))
		for i, v := range o.value {
			out[i] = starlark.Float(v)
			if !o.typ.float() && v == math.Trunc(v) {
				out[i] = starlark.MakeInt64(int64(v))
			}
		}
		return starlark.NewList(out), nil
	case "type":
		dims := builtin.IntTuple(o.typ.dims)
		extra := starlark.Value(starlark.None)
		if o.typ.channel != nil {
			extra = o.typ.channel
		} else if o.typ.extension != "" {
			extra = extensionData(o.typ.extension)
		}
		return builtin.NewNamespace("type", starlark.StringDict{
			"type": starlark.String(o.typ.code), "dimensions": starlark.NewList(dims),
			"scale": starlark.Float(o.typ.scale), "zeroPoint": starlark.MakeInt(o.typ.zero), "extraParams": extra,
		}), nil
	case "ShouldNeverBeInternal":
		return builtin.Fixed(name, 0, func(*starlark.Thread, starlark.Tuple) (starlark.Value, error) {
			o.noInternal = true
			return o, nil
		}), nil
	case "SetValue":
		return builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return o, o.setValue(t, a[0])
		}), nil
	}
	return nil, nil
}

// SetField assigns the lifetime, the one thing specifications change.
func (o *operand) SetField(name string, v starlark.Value) error {
	s, ok := v.(starlark.String)
	if name == "lifetime" && ok {
		if l, ok := nn.ParseLifetime(string(s)); ok {
			o.lifetime = l
			return nil
		}
	}
	return fmt.Errorf("an operand's %s cannot be set to %s", name, v.Type())
}

// setValue accepts a list of numbers, one number, or None.
func (o *operand) setValue(t *starlark.Thread, v starlark.Value) error {
	if v == nil || v == starlark.None {
		o.value = nil
		return nil
	}
	x, err := numbersOf(t, v)
	if err != nil {
		return fmt.Errorf("value of %s: %w", o.name, err)
	}
	o.value = x
	return nil
}

// numbersOf reads a number or a list of numbers; the result is not nil.
func numbersOf(t *starlark.Thread, v starlark.Value) ([]float64, error) {
	one := func(v starlark.Value) (float64, error) {
		f, ok := starlark.AsFloat(builtin.FromBool(v))
		if !ok {
			return 0, fmt.Errorf("a %s is not a number", v.Type())
		}
		return f, nil
	}
	if a, ok := v.(*numpy.Array); ok {
		return a.Flat(), builtin.Charge(t, a.Size())
	}
	if n := starlark.Len(v); n < 0 || v.Type() == "string" {
		f, err := one(v)
		return []float64{f}, err
	}
	out := make([]float64, 0, max(starlark.Len(v), 1))
	err := builtin.Iterate(t, v, func(e starlark.Value) error {
		f, err := one(e)
		if err != nil {
			return fmt.Errorf("element %d: %w", len(out), err)
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// parseType reads "CODE" with a shape string, or (CODE, dimensions[, scale[, zero point]]).
func parseType(t *starlark.Thread, kind, shape starlark.Value, channel *channels) (ty opType, err error) {
	ty.channel = channel
	if s, ok := kind.(starlark.String); ok {
		ty.code = string(s)
		text, ok := shape.(starlark.String)
		if !ok {
			return ty, fmt.Errorf("type %s needs a shape in text, like \"{1, 2}\"", ty.code)
		}
		err = ty.parseShape(string(text))
		return ty, err
	}
	e, err := builtin.Elements(t, kind)
	if err != nil || len(e) < 2 || len(e) > 4 {
		return ty, errors.New("a type is (code, dimensions[, scale[, zero point]])")
	}
	code, ok := e[0].(starlark.String)
	if !ok {
		return ty, fmt.Errorf("a type's code is a string, not a %s", e[0].Type())
	}
	ty.code = string(code)
	if ty.dims, err = builtin.Ints(t, e[1]); err != nil {
		return ty, err
	}
	err = ty.quantize(e[2:])
	return ty, err
}

// quantize sets scale, zero point and channel parameters from a list's tail.
func (ty *opType) quantize(e []starlark.Value) error {
	ty.scale, ty.zero = 0, 0
	for i, v := range e {
		f, ok := starlark.AsFloat(builtin.FromBool(v))
		switch {
		case i == 0 && ok:
			ty.scale = f
		case i == 1 && ok:
			ty.zero = int(f)
		case i == 2 && v == starlark.None:
		case i == 2:
			if ty.channel, ok = v.(*channels); ok {
				continue
			}
			fallthrough
		default:
			return fmt.Errorf("a %s is no quantization parameter", v.Type())
		}
	}
	return nil
}

// parseShape reads "{1, 2, 3}, 0.5f, 127"; "" and "{}" have no dimensions.
func (ty *opType) parseShape(s string) error {
	if s == "" || s == "{}" {
		return nil
	}
	_, rest, ok1 := strings.Cut(s, "{")
	dims, rest, ok2 := strings.Cut(rest, "}")
	if !ok1 || !ok2 {
		return fmt.Errorf("shape %.60q has no {dimensions}", s)
	}
	for f := range strings.SplitSeq(dims, ",") {
		d, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil {
			return fmt.Errorf("shape %.60q: dimension %.20q is not a number", s, f)
		}
		ty.dims = append(ty.dims, d)
	}
	fields := strings.Split(rest, ",")
	if strings.TrimSpace(fields[0]) != "" || len(fields) > 3 {
		return fmt.Errorf("shape %.60q: %.20q follows the dimensions", s, rest)
	}
	for i, f := range fields[1:] {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(f), "f"), 64)
		if err != nil || i == 1 && v != math.Trunc(v) {
			return fmt.Errorf("shape %.60q: %.20q is no quantization parameter", s, f)
		}
		if i == 0 {
			ty.scale = v
		} else {
			ty.zero = int(v)
		}
	}
	return nil
}
