package language

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"go.starlark.net/starlark"
)

const maxText = 1 << 20 // bytes of one string made from values

var errText = fmt.Errorf("the text of a value exceeds %d bytes", maxText)

// FloatText is Python's repr of a float.
func FloatText(f float64) string {
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
		b.WriteString(FloatText(float64(v)))
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
	for rest := format; rest != ""; {
		plain, field, found := strings.Cut(rest, "%")
		b.WriteString(plain)
		if !found {
			break
		}
		if rest, found = strings.CutPrefix(field, "%"); found {
			b.WriteByte('%')
			continue
		}
		v, field, err := keyed(format, field, arg)
		if err != nil {
			return nil, err
		}
		end := strings.IndexFunc(field, func(r rune) bool { return !strings.ContainsRune("-+ #0123456789.", r) })
		switch {
		case end < 0:
			return nil, fmt.Errorf("format %.40q is incomplete", format)
		case v != nil:
			next = len(args)
		case next >= len(args):
			return nil, fmt.Errorf("format %.40q has more fields than values", format)
		default:
			v = args[next]
			next++
		}
		s, err := percentField(v, field[:end], field[end])
		if err != nil {
			return nil, fmt.Errorf("format %.40q: %w", format, err)
		}
		b.WriteString(s)
		if b.Len() > maxText {
			return nil, errText
		}
		rest = field[end+1:]
	}
	if next < len(args) && !isDict(arg) {
		return nil, fmt.Errorf("format %.40q has fewer fields than values", format)
	}
	return starlark.String(b.String()), builtin.Charge(t, b.Len())
}

// keyed is the value of a field that begins with the key of a dictionary, and the field
// without it; v is nil where it begins with none.
func keyed(format, field string, arg starlark.Value) (v starlark.Value, rest string, err error) {
	key, named := strings.CutPrefix(field, "(")
	if !named {
		return nil, field, nil
	}
	key, rest, closed := strings.Cut(key, ")")
	d, ok := arg.(*starlark.Dict)
	if !closed || !ok {
		return nil, "", fmt.Errorf("format %.40q needs a dictionary", format)
	}
	if v, ok, _ = d.Get(starlark.String(key)); !ok {
		return nil, "", fmt.Errorf("format %.40q: no key %q", format, key)
	}
	return v, rest, nil
}

// percentField formats one value of a % operator: flags, width and precision, and the verb.
func percentField(v starlark.Value, spec string, verb byte) (string, error) {
	left := strings.Contains(spec, "-")
	spec = strings.ReplaceAll(spec, "-", "")
	s := ""
	var err error
	switch verb {
	case 'd', 'i', 'u':
		verb = 'd'
		if f, ok := v.(starlark.Float); ok {
			v, err = starlark.NumberToInt(f)
		}
	case 'r':
		s, err = repr(v)
		v, verb = starlark.String(s), 's'
	case 's':
		s, err = text(v)
		v = starlark.String(s)
	}
	if err != nil {
		return "", err
	}
	align := ">"
	if left {
		align = "<"
	} else if strings.HasPrefix(spec, "0") && verb != 's' {
		align = ""
	}
	return formatSpec(v, align+spec+string(verb))
}

func isDict(v starlark.Value) bool { _, ok := v.(*starlark.Dict); return ok }

// formatting is a parsed format: [[fill]align][sign][#][0][width][,][.precision][type].
type formatting struct {
	source           string
	fill             string
	align, sign      byte // align is 0 by default
	alt, comma       bool
	width, precision int  // -1 by default
	verb             byte // 0 by default
}

func parseFormatting(spec string) (f formatting, err error) {
	f = formatting{source: spec, fill: " ", sign: '-', precision: -1}
	if _, n := utf8.DecodeRuneInString(spec); len(spec) > n && strings.IndexByte("<>^=", spec[n]) >= 0 {
		f.fill, f.align, spec = spec[:n], spec[n], spec[n+1:]
	} else if strings.IndexByte("<>^=", spec[0]) >= 0 {
		f.align, spec = spec[0], spec[1:]
	}
	if spec != "" && strings.IndexByte("+- ", spec[0]) >= 0 {
		f.sign, spec = spec[0], spec[1:]
	}
	spec, f.alt = strings.CutPrefix(spec, "#")
	zero := false
	if spec, zero = strings.CutPrefix(spec, "0"); zero && f.align == 0 {
		f.fill, f.align = "0", '='
	}
	number := func() int {
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
	f.width = number()
	spec, f.comma = strings.CutPrefix(spec, ",")
	point := false
	if spec, point = strings.CutPrefix(spec, "."); point {
		f.precision = number()
	}
	if len(spec) > 1 || f.width > 4096 || f.precision > 4096 {
		return f, fmt.Errorf("format %.40q is not supported", f.source)
	}
	if spec != "" {
		f.verb = spec[0]
	}
	return f, nil
}

// formatSpec is Python's format(v, spec).
func formatSpec(v starlark.Value, spec string) (string, error) {
	v = fromBoolIf(v, spec != "")
	if spec == "" {
		return text(v)
	}
	f, err := parseFormatting(spec)
	if err != nil {
		return "", err
	}
	body, negative := "", false
	_, isNumber := starlark.AsFloat(v)
	switch {
	case !isNumber:
		body, err = f.text(v)
		f.align = cmp.Or(f.align, '<')
	case strings.IndexByte("eEfFgG%", f.verb) >= 0 && f.verb != 0 || builtin.IsFloat(v):
		x, _ := starlark.AsFloat(v)
		negative = math.Signbit(x) && !math.IsNaN(x)
		body, err = f.float(math.Abs(x))
	case f.verb == 'c':
		return string(rune(v.(starlark.Int).BigInt().Int64())), nil
	default:
		i := v.(starlark.Int).BigInt()
		negative = i.Sign() < 0
		body, err = f.integer(i.Abs(i))
	}
	if err != nil {
		return "", err
	}
	mark := ""
	if negative {
		mark = "-"
	} else if isNumber && f.sign != '-' {
		mark = string(f.sign)
	}
	return f.padded(mark, body), nil
}

// text is a value that is no number, cut to the precision.
func (f *formatting) text(v starlark.Value) (string, error) {
	s, err := text(v)
	if err != nil {
		return "", err
	}
	if f.verb != 0 && f.verb != 's' {
		return "", fmt.Errorf("format %.40q does not apply to a %s", f.source, v.Type())
	}
	if f.precision >= 0 && f.precision < utf8.RuneCountInString(s) {
		s = string([]rune(s)[:f.precision])
	}
	return s, nil
}

// float is a number that is not negative, as a float.
func (f *formatting) float(x float64) (body string, err error) {
	precision := f.precision
	if f.verb == 0 && precision < 0 {
		return FloatText(x), nil
	}
	if precision < 0 {
		precision = 6
	}
	switch f.verb {
	case '%':
		return strconv.FormatFloat(x*100, 'f', precision, 64) + "%", nil
	case 'g', 'G', 0:
		body = general(x, max(precision, 1))
	case 'd':
		return "", fmt.Errorf("format %.40q does not apply to a float", f.source)
	default:
		body = strconv.FormatFloat(x, f.verb|0x20, precision, 64)
	}
	if f.verb == 'E' || f.verb == 'G' {
		body = strings.ToUpper(body)
	}
	return body, nil
}

// integer is an integer that is not negative.
func (f *formatting) integer(i *big.Int) (string, error) {
	base, prefix := 10, ""
	switch f.verb {
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'o':
		base, prefix = 8, "0o"
	case 'b':
		base, prefix = 2, "0b"
	case 0, 'd', 's':
	default:
		return "", fmt.Errorf("format %.40q does not apply to an int", f.source)
	}
	body := i.Text(base)
	if f.alt {
		body = prefix + body
	}
	if f.verb == 'X' {
		body = strings.ToUpper(body)
	}
	for p := len(body) - 3; f.comma && p > 0; p -= 3 {
		body = body[:p] + "," + body[p:]
	}
	return body, nil
}

// padded fills a body up to the width; mark is its sign.
func (f *formatting) padded(mark, body string) string {
	pad := f.width - utf8.RuneCountInString(mark+body)
	if pad <= 0 {
		return mark + body
	}
	switch f.align {
	case '<':
		return mark + body + strings.Repeat(f.fill, pad)
	case '^':
		return strings.Repeat(f.fill, pad/2) + mark + body + strings.Repeat(f.fill, pad-pad/2)
	case '=':
		return mark + strings.Repeat(f.fill, pad) + body
	}
	return strings.Repeat(f.fill, pad) + mark + body
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
