// Package limittest finds which numbers a configuration may have, so that a test can hold the limits that a Validate
// method draws. A limit is where one number may go while all others stay.
package limittest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

var update = flag.Bool("update-limits", false, "write the files of limits in testdata")

// beyond is where a search ends: a number that may be as large has no limit.
const beyond = 1 << 60

// Bounds is the interval of values about at that satisfy accepts, reached by doubling and halving: of powers of two the
// outermost ones. It is infinite where there is no limit.
func Bounds(at float64, integer bool, accepts func(float64) bool) (least, most float64) {
	return -outmost(-at, integer, func(x float64) bool { return accepts(-x) }), outmost(at, integer, accepts)
}

// outmost is the greatest accepted value on the way up from at.
func outmost(at float64, integer bool, accepts func(float64) bool) float64 {
	last := at
	for step := last; ; {
		switch {
		case step > 0:
			step *= 2
		case step == 0 || integer && step > -2:
			step++ // from -1 to 0, and from 0 to 1
		case step < -1e-9:
			step /= 2
			if integer {
				step = math.Ceil(step)
			}
		default:
			step = 0
		}
		if step > beyond {
			return math.Inf(1)
		}
		if !accepts(step) {
			return between(last, step, integer, accepts)
		}
		last = step
	}
}

// between is the last accepted value from good on before bad.
func between(good, bad float64, integer bool, accepts func(float64) bool) float64 {
	for range 60 {
		x := (good + bad) / 2
		if integer {
			x = math.Floor(x)
		}
		if x == good || x == bad || !integer && bad-good < 1e-6*math.Abs(bad) {
			break
		}
		if accepts(x) {
			good = x
		} else {
			bad = x
		}
	}
	return good
}

// Fields lists the numbers of a configuration, which is valid as it is, with the minimum and the maximum of each, a
// line of name, minimum, maximum; numbers without a limit are left out. config points to a struct.
func Fields(config any, valid func() bool) []string {
	return fields("", reflect.ValueOf(config).Elem(), valid)
}

func fields(path string, v reflect.Value, valid func() bool) (lines []string) {
	try := func(integer bool, at float64, holds func(float64) bool, set func(float64)) {
		least, most := Bounds(at, integer, func(x float64) bool {
			if !holds(x) {
				return false
			}
			set(x)
			return valid()
		})
		set(at)
		if !math.IsInf(least, -1) || !math.IsInf(most, 1) {
			lines = append(lines, Line(strings.TrimPrefix(path, "."), least, most))
		}
	}
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return fields(path, v.Elem(), valid)
	case !v.CanSet():
	case v.CanInt():
		holds := func(x float64) bool { return !v.OverflowInt(int64(x)) }
		try(true, float64(v.Int()), holds, func(x float64) { v.SetInt(int64(x)) })
	case v.CanUint():
		holds := func(x float64) bool { return x >= 0 && !v.OverflowUint(uint64(x)) }
		try(true, float64(v.Uint()), holds, func(x float64) { v.SetUint(uint64(x)) })
	case v.CanFloat():
		try(false, v.Float(), func(float64) bool { return true }, v.SetFloat)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			lines = append(lines, fields(path+"."+v.Type().Field(i).Name, v.Field(i), valid)...)
		}
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		for i := range v.Len() {
			lines = append(lines, fields(fmt.Sprintf("%s[%d]", path, i), v.Index(i), valid)...)
		}
	}
	return lines
}

// Line is one line of a file of limits.
func Line(name string, least, most float64) string {
	text := func(x float64) string {
		switch {
		case x != 0 && math.Abs(x) < 1e-9:
			return "above_0"
		case x == math.Trunc(x) && math.Abs(x) < beyond:
			return strconv.FormatFloat(x+0, 'f', 0, 64) // + 0: no -0
		}
		return strconv.FormatFloat(x, 'g', 5, 64)
	}
	return fmt.Sprintf("%s %s %s", name, text(least), text(most))
}

// Check holds lines against testdata/file.
func Check(t *testing.T, file string, lines []string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	data := require.V(os.ReadFile(file))(t)
	if string(data) == got {
		return
	}
	want := strings.Split(string(data), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d of %s differs: it is now %q; -update-limits writes it", i+1, file, line)
		}
	}
	t.Fatalf("%s has %d lines more than there are limits", file, len(want)-len(lines)-1)
}
