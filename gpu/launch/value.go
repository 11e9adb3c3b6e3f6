package launch

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/x448/float16"
)

// ParseValue reads an argument passed by value, written as kind and value: i8 to
// u64, f16 to f64, hex (bytes), or lds (bytes that are reserved).
func ParseValue(kind, value string) (Arg, error) {
	a := Arg{Type: kind}
	number := func(err error) error {
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s does not fit %s", value, kind)
		}
		return fmt.Errorf("%q is no number of type %s", value, kind)
	}
	if len(kind) > 1 {
		bits, err := strconv.Atoi(kind[1:])
		if err == nil && bits >= 8 && bits <= 64 && bits&(bits-1) == 0 {
			var v uint64
			switch {
			case kind[0] == 'i':
				n, err := strconv.ParseInt(value, 0, bits)
				if err != nil {
					return a, number(err)
				}
				v = uint64(n)
			case kind[0] == 'u':
				if v, err = strconv.ParseUint(value, 0, bits); err != nil {
					return a, number(err)
				}
			case kind[0] == 'f' && bits >= 16:
				x, err := strconv.ParseFloat(value, max(bits, 32))
				if err != nil {
					return a, number(err)
				}
				switch bits {
				case 16:
					v = uint64(float16.Fromfloat32(float32(x)))
				case 32:
					v = uint64(math.Float32bits(float32(x)))
				default:
					v = math.Float64bits(x)
				}
			default:
				return a, unknownKind(kind)
			}
			a.Value = binary.LittleEndian.AppendUint64(nil, v)[:bits/8]
			return a, nil
		}
	}
	switch kind {
	case "hex":
		b, err := hex.DecodeString(value)
		if err != nil || len(b) == 0 || len(b) > 4096 {
			return a, fmt.Errorf("%q: want 1 to 4096 bytes in hexadecimal", value)
		}
		a.Value = b
		return a, nil
	case "lds":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 64<<10 {
			return a, fmt.Errorf("%q bytes of LDS, want 1 to 65536", value)
		}
		a.LDS = n
		return a, nil
	}
	return a, unknownKind(kind)
}

func unknownKind(kind string) error {
	return fmt.Errorf("unknown kind %q: buf, new, i8 to i64, u8 to u64, f16, f32, f64, hex or lds", kind)
}

// Array is a buffer of zeros with the shape that a file of it has.
type Array struct {
	Descr string // NumPy's type, as "<f4"
	Shape []int
	Data  []byte
}

// maxArray bounds a new buffer.
const maxArray = 1 << 30

// NewArray makes the buffer that DTYPE:SHAPE describes, as f4:16,16.
func NewArray(s string) (*Array, error) {
	dtype, shape, ok := strings.Cut(s, ":")
	if !ok || len(dtype) != 2 || !strings.Contains(" f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 ", " "+dtype+" ") {
		return nil, fmt.Errorf("%q: want DTYPE:SHAPE as f4:16,16; types are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8", s)
	}
	a := &Array{Descr: "<" + dtype}
	if dtype[1] == '1' {
		a.Descr = "|" + dtype
	}
	n := int(dtype[1] - '0')
	for _, p := range strings.Split(shape, ",") {
		d, err := strconv.Atoi(p)
		if err != nil || d < 1 || n > maxArray/d {
			return nil, fmt.Errorf("%q: shape %q, want dimensions from 1 on and at most %d bytes", s, shape, maxArray)
		}
		n *= d
		a.Shape = append(a.Shape, d)
	}
	a.Data = make([]byte, n)
	return a, nil
}
