package language

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

func collectionsModule(builtins starlark.StringDict) *builtin.Namespace {
	return builtin.NewNamespace("collections", starlark.StringDict{
		"OrderedDict": builtins["dict"],
		"namedtuple":  builtin.Function("namedtuple", newRecordType),
	})
}

// recordType is what collections.namedtuple returns: a function that makes
// records.
type recordType struct {
	name   string
	fields []string
	// defaults are the values of the last fields, for records without them.
	defaults starlark.Tuple
}

// newRecordType is namedtuple(typename, field_names, *, rename=False,
// defaults=None, module=None).
func newRecordType(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := &recordType{}
	var fields, defaults, module starlark.Value
	var rename starlark.Value = starlark.False
	if len(args) > 2 {
		return nil, fmt.Errorf("namedtuple takes 2 positional arguments, %d are given", len(args))
	}
	try.E(starlark.UnpackArgs("namedtuple", args, kwargs, "typename", &r.name, "field_names", &fields,
		"rename?", &rename, "defaults?", &defaults, "module?", &module))
	if s, ok := fields.(starlark.String); ok {
		r.fields = strings.Fields(strings.ReplaceAll(string(s), ",", " "))
	} else if err := builtin.Iterate(t, fields, func(v starlark.Value) error {
		s, ok := v.(starlark.String)
		if !ok {
			return errors.New("namedtuple: field names are strings")
		}
		r.fields = append(r.fields, string(s))
		return nil
	}); err != nil {
		return nil, err
	}
	for i, f := range r.fields {
		if f != "" && f[0] != '_' && slices.Index(r.fields, f) == i {
			continue
		}
		if !rename.Truth() {
			return nil, fmt.Errorf("namedtuple: field name %q is empty, begins with an underscore or is there twice", f)
		}
		r.fields[i] = fmt.Sprintf("_%d", i)
	}
	if defaults == nil || defaults == starlark.None {
		return r, nil
	}
	values := try.V(builtin.Elements(t, defaults))
	if r.defaults = values; len(r.defaults) > len(r.fields) {
		return nil, fmt.Errorf("namedtuple: %d defaults for %d fields", len(r.defaults), len(r.fields))
	}
	return r, nil
}

func (r *recordType) Name() string          { return r.name }
func (r *recordType) String() string        { return "<class '" + r.name + "'>" }
func (r *recordType) Type() string          { return "type" }
func (r *recordType) Freeze()               {}
func (r *recordType) Truth() starlark.Bool  { return true }
func (r *recordType) Hash() (uint32, error) { return starlark.String(r.name).Hash() }

// CallInternal makes a record.
func (r *recordType) CallInternal(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v := &record{make(starlark.Tuple, len(r.fields)), r}
	if len(args) > len(r.fields) {
		return nil, fmt.Errorf("%s has %d fields, %d values are given", r.name, len(r.fields), len(args))
	}
	copy(v.Tuple, args)
	for _, kv := range kwargs {
		at := slices.Index(r.fields, string(kv[0].(starlark.String)))
		if at < 0 || v.Tuple[at] != nil {
			return nil, fmt.Errorf("%s: field %s is unknown or given twice", r.name, kv[0])
		}
		v.Tuple[at] = kv[1]
	}
	first := len(r.fields) - len(r.defaults)
	for i := range v.Tuple {
		if v.Tuple[i] == nil && i >= first {
			v.Tuple[i] = r.defaults[i-first]
		}
		if v.Tuple[i] == nil {
			return nil, fmt.Errorf("%s: field %q has no value", r.name, r.fields[i])
		}
	}
	return v, nil
}

// AttrNames lists the attributes of a type of records.
func (r *recordType) AttrNames() []string { return []string{"_field_defaults", "_fields", "_make"} }

// Attr is a member of the type.
func (r *recordType) Attr(name string) (starlark.Value, error) {
	switch name {
	case "__name__":
		return starlark.String(r.name), nil
	case "_fields":
		names := make(starlark.Tuple, len(r.fields))
		for i, f := range r.fields {
			names[i] = starlark.String(f)
		}
		return names, nil
	case "_field_defaults":
		return pairsDict(r.fields[len(r.fields)-len(r.defaults):], r.defaults)
	case "_make":
		return builtin.Fixed("_make", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			values := try.V(builtin.Elements(t, a[0]))
			return r.CallInternal(t, values, nil)
		}), nil
	}
	return nil, nil
}

func pairsDict(keys []string, values starlark.Tuple) (starlark.Value, error) {
	d := starlark.NewDict(len(keys))
	for i, k := range keys {
		if err := d.SetKey(starlark.String(k), values[i]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// record is a value of a recordType: a tuple with names.
type record struct {
	starlark.Tuple
	kind *recordType
}

// String is like "P(x=1, y=2)".
func (r *record) String() string {
	parts := make([]string, len(r.Tuple))
	for i, v := range r.Tuple {
		parts[i] = r.kind.fields[i] + "=" + v.String()
	}
	return r.kind.name + "(" + strings.Join(parts, ", ") + ")"
}

func (r *record) Type() string { return "namedtuple" }
func (r *record) AttrNames() []string {
	return append([]string{"_asdict", "_replace"}, r.kind.fields...)
}
func (r *record) Hash() (uint32, error) { return r.Tuple.Hash() }

// Attr is a field, or a method of a named tuple.
func (r *record) Attr(name string) (starlark.Value, error) {
	if i := slices.Index(r.kind.fields, name); i >= 0 {
		return r.Tuple[i], nil
	}
	switch name {
	case "_asdict":
		return builtin.Fixed(name, 0, func(*starlark.Thread, starlark.Tuple) (starlark.Value, error) {
			return pairsDict(r.kind.fields, r.Tuple)
		}), nil
	case "_replace":
		return builtin.Function(name, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			v := &record{slices.Clone(r.Tuple), r.kind}
			if len(args) > 0 {
				return nil, errors.New("_replace takes keyword arguments only")
			}
			for _, kv := range kwargs {
				at := slices.Index(r.kind.fields, string(kv[0].(starlark.String)))
				if at < 0 {
					return nil, fmt.Errorf("%s has no field %s", r.kind.name, kv[0])
				}
				v.Tuple[at] = kv[1]
			}
			return v, nil
		}), nil
	case "count", "index":
		return sequenceMethod(r.Tuple, name), nil
	}
	return r.kind.Attr(name)
}

// sequenceMethod is count or index of a tuple.
func sequenceMethod(s starlark.Tuple, name string) starlark.Value {
	return builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		n := 0
		for i, v := range s {
			same := try.V(compareValues(t, "==", v, a[0]))
			if !same.Truth() {
				continue
			}
			if name == "index" {
				return starlark.MakeInt(i), nil
			}
			n++
		}
		if name == "index" {
			return nil, errors.New("the value is not in the tuple")
		}
		return starlark.MakeInt(n), nil
	})
}

// CompareSameType compares records as tuples.
func (r *record) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return r.Tuple.CompareSameType(op, y.(*record).Tuple, depth)
}

// asTuple is the tuple of a record, other values as they are: a named tuple is
// a tuple to every operator.
func asTuple(x starlark.Value) starlark.Value {
	if r, ok := x.(*record); ok {
		return r.Tuple
	}
	return x
}
