package modpy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"go.starlark.net/starlark"
)

const maxText = 1 << 20 // bytes of one string made from values

var errText = fmt.Errorf("the text of a value exceeds %d bytes", maxText)

// floatText is Python's repr of a float.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	_, e, _ := strings.Cut(s, "e")
	if exp, _ := strconv.Atoi(e); exp >= -4 && exp < 16 {
		s = strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
	}
	return s
}

// text is str(v), bounded.
func text(v starlark.Value) (string, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	return repr(v)
}

// repr is Python's repr(v), bounded.
func repr(v starlark.Value) (string, error) {
	var b strings.Builder
	err := writeRepr(&b, v, 0)
	return b.String(), err
}

func writeRepr(b *strings.Builder, v starlark.Value, depth int) error {
	if b.Len() > maxText || depth > 20 {
		return errText
	}
	list := func(open, end string, n int, at func(int) starlark.Value) error {
		b.WriteString(open)
		for i := range n {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := writeRepr(b, at(i), depth+1); err != nil {
				return err
			}
		}
		b.WriteString(end)
		return nil
	}
	switch v := v.(type) {
	case starlark.Float:
		b.WriteString(floatText(float64(v)))
	case starlark.String:
		if len(v) > maxText {
			return errText
		}
		b.WriteString("'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(string(v)) + "'")
	case *starlark.List:
		return list("[", "]", v.Len(), v.Index)
	case starlark.Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		return list("(", end, len(v), v.Index)
	case *starlark.Dict:
		items := v.Items()
		b.WriteString("{")
		for i, e := range items {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := writeRepr(b, e[0], depth+1); err != nil {
				return err
			}
			b.WriteString(": ")
			if err := writeRepr(b, e[1], depth+1); err != nil {
				return err
			}
		}
		b.WriteString("}")
	case *starlark.Set, *starlark.Function, *starlark.Builtin:
		fmt.Fprintf(b, "<%s>", v.Type())
	default:
		b.WriteString(v.String())
	}
	return nil
}

// formatPercent is the % operator of a string.
func formatPercent(t *starlark.Thread, format string, arg starlark.Value) (starlark.Value, error) {
	args := starlark.Tuple{arg}
	if tuple, ok := arg.(starlark.Tuple); ok {
		args = tuple
	}
	var b strings.Builder
	next := 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i < len(format) && format[i] == '%' {
			b.WriteByte('%')
			continue
		}
		var v starlark.Value
		if i < len(format) && format[i] == '(' {
			end := strings.IndexByte(format[i:], ')')
			d, ok := arg.(*starlark.Dict)
			if end < 0 || !ok {
				return nil, fmt.Errorf("format %.40q needs a dictionary", format)
			}
			v, ok, _ = d.Get(starlark.String(format[i+1 : i+end]))
			if !ok {
				return nil, fmt.Errorf("format %.40q: no key %q", format, format[i+1:i+end])
			}
			i += end + 1
			next = len(args)
		}
		start := i
		for i < len(format) && strings.IndexByte("-+ #0123456789.", format[i]) >= 0 {
			i++
		}
		if i >= len(format) {
			return nil, fmt.Errorf("format %.40q is incomplete", format)
		}
		if v == nil {
			if next >= len(args) {
				return nil, fmt.Errorf("format %.40q has more fields than values", format)
			}
			v = args[next]
			next++
		}
		spec := format[start:i]
		left := strings.Contains(spec, "-")
		spec = strings.ReplaceAll(spec, "-", "")
		verb := format[i]
		if verb == 'i' || verb == 'u' {
			verb = 'd'
		}
		if verb == 'd' {
			if f, ok := v.(starlark.Float); ok {
				n, err := starlark.NumberToInt(f)
				if err != nil {
					return nil, err
				}
				v = n
			}
		}
		s := ""
		var err error
		switch verb {
		case 'r':
			s, err = repr(v)
			v, verb = starlark.String(s), 's'
		case 's':
			s, err = text(v)
			v = starlark.String(s)
		}
		if err == nil {
			align := ">"
			if left {
				align = "<"
			} else if strings.HasPrefix(spec, "0") && verb != 's' {
				align = ""
			}
			s, err = formatSpec(v, align+spec+string(verb))
		}
		if err != nil {
			return nil, fmt.Errorf("format %.40q: %w", format, err)
		}
		b.WriteString(s)
		if b.Len() > maxText {
			return nil, errText
		}
	}
	if next < len(args) && !isDict(arg) {
		return nil, fmt.Errorf("format %.40q has fewer fields than values", format)
	}
	return starlark.String(b.String()), builtin.Charge(t, b.Len())
}

func isDict(v starlark.Value) bool { _, ok := v.(*starlark.Dict); return ok }

// formatSpec is Python's format(v, spec) for [[fill]align][sign][0][width][,][.precision][type].
func formatSpec(v starlark.Value, spec string) (string, error) {
	v = fromBoolIf(v, spec != "")
	if spec == "" {
		return text(v)
	}
	orig := spec
	fill, align := " ", byte(0)
	if _, n := utf8.DecodeRuneInString(spec); len(spec) > n && strings.IndexByte("<>^=", spec[n]) >= 0 {
		fill, align, spec = spec[:n], spec[n], spec[n+1:]
	} else if strings.IndexByte("<>^=", spec[0]) >= 0 {
		align, spec = spec[0], spec[1:]
	}
	sign := byte('-')
	if spec != "" && strings.IndexByte("+- ", spec[0]) >= 0 {
		sign, spec = spec[0], spec[1:]
	}
	alt := strings.HasPrefix(spec, "#")
	spec = strings.TrimPrefix(spec, "#")
	if strings.HasPrefix(spec, "0") {
		if align == 0 {
			fill, align = "0", '='
		}
		spec = spec[1:]
	}
	num := func() int {
		n := 0
		for n < len(spec) && spec[n] >= '0' && spec[n] <= '9' {
			n++
		}
		i, err := strconv.Atoi(spec[:n])
		spec = spec[n:]
		if err != nil {
			return -1
		}
		return i
	}
	width := num()
	comma := strings.HasPrefix(spec, ",")
	spec = strings.TrimPrefix(spec, ",")
	precision := -1
	if strings.HasPrefix(spec, ".") {
		spec = spec[1:]
		precision = num()
	}
	if len(spec) > 1 || width > 4096 || precision > 4096 {
		return "", fmt.Errorf("format %.40q is not supported", orig)
	}
	verb := byte(0)
	if spec != "" {
		verb = spec[0]
	}
	body, negative := "", false
	_, isNumber := starlark.AsFloat(v)
	switch {
	case !isNumber:
		s, err := text(v)
		if err != nil {
			return "", err
		}
		if verb != 0 && verb != 's' {
			return "", fmt.Errorf("format %.40q does not apply to a %s", orig, v.Type())
		}
		if precision >= 0 && precision < utf8.RuneCountInString(s) {
			s = string([]rune(s)[:precision])
		}
		body = s
		if align == 0 {
			align = '<'
		}
	case strings.IndexByte("eEfFgG%", verb) >= 0 && verb != 0 || builtin.IsFloat(v):
		f, _ := starlark.AsFloat(v)
		negative = f < 0 || f == 0 && math.Signbit(f)
		f = math.Abs(f)
		switch {
		case verb == 0 && precision < 0:
			body = floatText(f)
		default:
			if precision < 0 {
				precision = 6
			}
			if verb == '%' {
				body = strconv.FormatFloat(f*100, 'f', precision, 64) + "%"
			} else if verb == 'g' || verb == 'G' || verb == 0 {
				body = general(f, max(precision, 1))
			} else if verb == 'd' {
				return "", fmt.Errorf("format %.40q does not apply to a float", orig)
			} else {
				body = strconv.FormatFloat(f, verb|0x20, precision, 64)
			}
			if verb == 'E' || verb == 'G' {
				body = strings.ToUpper(body)
			}
		}
	default:
		i := v.(starlark.Int).BigInt()
		negative = i.Sign() < 0
		i.Abs(i)
		base, prefix := 10, ""
		switch verb {
		case 'x', 'X':
			base, prefix = 16, "0x"
		case 'o':
			base, prefix = 8, "0o"
		case 'b':
			base, prefix = 2, "0b"
		case 0, 'd', 's':
		case 'c':
			return string(rune(i.Int64())), nil
		default:
			return "", fmt.Errorf("format %.40q does not apply to an int", orig)
		}
		body = i.Text(base)
		if alt {
			body = prefix + body
		}
		if verb == 'X' {
			body = strings.ToUpper(body)
		}
		for p := len(body) - 3; comma && p > 0; p -= 3 {
			body = body[:p] + "," + body[p:]
		}
	}
	mark := ""
	if negative {
		mark = "-"
	} else if isNumber && sign != '-' {
		mark = string(sign)
	}
	pad := width - utf8.RuneCountInString(mark+body)
	if pad <= 0 {
		return mark + body, nil
	}
	switch align {
	case '<':
		return mark + body + strings.Repeat(fill, pad), nil
	case '^':
		return strings.Repeat(fill, pad/2) + mark + body + strings.Repeat(fill, pad-pad/2), nil
	case '=':
		return mark + strings.Repeat(fill, pad) + body, nil
	}
	return strings.Repeat(fill, pad) + mark + body, nil
}

func fromBoolIf(v starlark.Value, number bool) starlark.Value {
	if _, ok := v.(starlark.Bool); ok && !number {
		return v
	}
	return builtin.FromBool(v)
}

// general is C's %g without trailing zeros.
func general(f float64, precision int) string {
	s := strconv.FormatFloat(f, 'e', precision-1, 64)
	mantissa, e, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(e)
	if exp >= -4 && exp < precision {
		s = strconv.FormatFloat(f, 'f', precision-1-exp, 64)
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + "e" + e
}
