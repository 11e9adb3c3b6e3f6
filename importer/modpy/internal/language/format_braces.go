package language

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"go.starlark.net/starlark"
)

// formatBraces is str.format.
func formatBraces(t *starlark.Thread, format string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var b strings.Builder
	auto := 0
	for i := 0; i < len(format); i++ {
		c := format[i]
		if (c == '{' || c == '}') && i+1 < len(format) && format[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c != '{' && c != '}' {
			b.WriteByte(c)
			continue
		}
		end := strings.IndexByte(format[i:], '}')
		if c == '}' || end < 0 {
			return nil, fmt.Errorf("format %.40q: unmatched %q", format, c)
		}
		field := format[i+1 : i+end]
		i += end
		name, spec, _ := strings.Cut(field, ":")
		name, conv, _ := strings.Cut(name, "!")
		v, err := argument(name, &auto, args, kwargs)
		if err == nil {
			var s string
			if s, err = converted(v, conv, spec); err == nil {
				b.WriteString(s)
			}
		}
		if err == nil && b.Len() > maxText {
			err = errText
		}
		if err != nil {
			return nil, fmt.Errorf("format %.40q: %w", format, err)
		}
	}
	return starlark.String(b.String()), builtin.Charge(t, b.Len())
}

func converted(v starlark.Value, conv, spec string) (string, error) {
	switch conv {
	case "":
	case "r", "s":
		f := text
		if conv == "r" {
			f = repr
		}
		s, err := f(v)
		if err != nil {
			return "", err
		}
		v = starlark.String(s)
	default:
		return "", fmt.Errorf("conversion !%s is not supported", conv)
	}
	return formatSpec(v, spec)
}

// argument looks up a field's name: "", "0", "name", "name.attr" or "name[0]".
func argument(name string, auto *int, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	rest := ""
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	var v starlark.Value
	i, err := strconv.Atoi(name)
	if name == "" {
		i, err = *auto, nil
		*auto++
	}
	if err == nil {
		if i < 0 || i >= len(args) {
			return nil, fmt.Errorf("no argument %d", i)
		}
		v = args[i]
	}
	for _, kv := range kwargs {
		if err != nil && string(kv[0].(starlark.String)) == name {
			v = kv[1]
		}
	}
	if v == nil {
		return nil, fmt.Errorf("no argument %q", name)
	}
	for rest != "" {
		if rest[0] == '.' {
			n := len(rest)
			if j := strings.IndexAny(rest[1:], ".["); j >= 0 {
				n = j + 1
			}
			h, ok := v.(starlark.HasAttrs)
			if !ok {
				return nil, fmt.Errorf("a %s has no attributes", v.Type())
			}
			a, err := h.Attr(rest[1:n])
			if err != nil || a == nil {
				return nil, fmt.Errorf("a %s has no attribute %q", v.Type(), rest[1:n])
			}
			v, rest = a, rest[n:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		x, ok := v.(starlark.Indexable)
		if end < 0 || !ok {
			return nil, fmt.Errorf("field index %q does not apply", rest)
		}
		n, err := strconv.Atoi(rest[1:end])
		if err != nil || n < 0 || n >= x.Len() {
			return nil, fmt.Errorf("field index %q is out of range", rest)
		}
		v, rest = x.Index(n), rest[end+1:]
	}
	return v, nil
}
