package language

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/numpy"
	"github.com/nnsoc/nnsoc/internal/try"
	"go.starlark.net/starlark"
)

// method is x.name for the names in ownMethods.
func method(x starlark.Value, name string) (starlark.Value, error) {
	bound := func(f builtin.Impl) (starlark.Value, error) { return builtin.Function(name, f), nil }
	switch x := x.(type) {
	case *starlark.List:
		if f := listMethod(x, name); f != nil {
			return bound(f)
		}
	case *starlark.Dict:
		if f := dictMethod(x, name); f != nil {
			return bound(f)
		}
	case starlark.String:
		if f := stringMethod(string(x), name); f != nil {
			return bound(f)
		}
	}
	if name == "count" && starlark.Len(x) >= 0 {
		if _, isString := x.(starlark.String); !isString {
			return bound(func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				try.E(builtin.Arity(name, args, kwargs, 1, 1))
				n := 0
				err := builtin.Iterate(t, x, func(v starlark.Value) error {
					eq, err := starlark.Equal(v, args[0])
					n += builtin.BoolToInt(eq)
					return err
				})
				return starlark.MakeInt(n), err
			})
		}
	}
	h, ok := x.(starlark.HasAttrs)
	if ok {
		v, err := h.Attr(name)
		if f, isFunc := v.(*starlark.Builtin); isFunc && err == nil && starlark.Len(x) > 0 && !numpy.IsArray(x) {
			return bound(func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				if len(args) > 0 || name != "pop" { // a pop from the end costs nothing
					t.Steps += uint64(starlark.Len(x))
				}
				return starlark.Call(t, f, args, kwargs)
			})
		}
		if err != nil || v != nil {
			return v, err
		}
	}
	return nil, fmt.Errorf("a %s has no method %q", x.Type(), name)
}

func listMethod(x *starlark.List, name string) builtin.Impl {
	switch name {
	case "extend":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			try.E(builtin.Arity(name, args, kwargs, 1, 1))
			return starlark.None, extend(t, x, args[0])
		}
	case "copy":
		return func(t *starlark.Thread, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			e, err := builtin.Elements(t, x)
			return starlark.NewList(e), err
		}
	case "sort":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return starlark.None, reorder(t, x, "sorted", args, kwargs)
		}
	case "reverse":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return starlark.None, reorder(t, x, "reversed", args, kwargs)
		}
	}
	return nil
}

// reorder puts the elements of a list into the order that a function of Starlark returns.
func reorder(t *starlark.Thread, x *starlark.List, by string, args starlark.Tuple, kwargs []starlark.Tuple) (err error) {
	defer try.Catch(&err)
	try.E(builtin.Charge(t, x.Len()))
	v := try.V(starlark.Call(t, starlark.Universe[by], append(starlark.Tuple{x}, args...), kwargs))
	for i := range x.Len() {
		try.E(x.SetIndex(i, v.(*starlark.List).Index(i)))
	}
	return nil
}

func dictMethod(x *starlark.Dict, name string) builtin.Impl {
	switch name {
	case "copy":
		return func(t *starlark.Thread, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			d := new(starlark.Dict)
			return d, merge(t, d, x)
		}
	case "update":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			for _, a := range args {
				m, ok := a.(*starlark.Dict)
				if !ok {
					return nil, fmt.Errorf("update needs a dict, not a %s", a.Type())
				}
				try.E(merge(t, x, m))
			}
			for _, kv := range kwargs {
				try.E(x.SetKey(kv[0], kv[1]))
			}
			return starlark.None, nil
		}
	}
	return nil
}

func stringMethod(s, name string) builtin.Impl {
	switch name {
	case "format":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return formatBraces(t, s, args, kwargs)
		}
	case "join":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			try.E(builtin.Arity(name, args, kwargs, 1, 1))
			var parts []string
			total := 0
			err := builtin.Iterate(t, args[0], func(v starlark.Value) error {
				p, ok := v.(starlark.String)
				if !ok {
					return fmt.Errorf("join needs strings, element %d is a %s", len(parts), v.Type())
				}
				parts = append(parts, string(p))
				if total += len(p) + len(s); total > maxText {
					return errText
				}
				return nil
			})
			return starlark.String(strings.Join(parts, s)), err
		}
	case "replace":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var from, to string
			n := -1
			try.E(starlark.UnpackPositionalArgs(name, args, kwargs, 2, &from, &to, &n))
			if (strings.Count(s, from)*len(to))+len(s) > maxText {
				return nil, errText
			}
			return starlark.String(strings.Replace(s, from, to, n)), builtin.Charge(t, len(s))
		}
	case "zfill", "ljust", "rjust":
		return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var width int
			fill := " "
			try.E(starlark.UnpackPositionalArgs(name, args, kwargs, 1, &width, &fill))
			pad := width - len(s)
			if pad <= 0 {
				return starlark.String(s), nil
			}
			if pad > maxText || len(fill) != 1 {
				return nil, errText
			}
			switch {
			case name == "ljust":
				return starlark.String(s + strings.Repeat(fill, pad)), nil
			case name == "rjust":
				return starlark.String(strings.Repeat(fill, pad) + s), nil
			case strings.HasPrefix(s, "-"):
				return starlark.String("-" + strings.Repeat("0", pad) + s[1:]), nil
			}
			return starlark.String(strings.Repeat("0", pad) + s), nil
		}
	}
	return nil
}
