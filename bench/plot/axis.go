package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// plainTicks are marks with names at multiples of 1, 2 or 5 times a power of ten: the closest that are at most
// maxSteps steps along the axis.
type plainTicks struct{}

const maxSteps = 6

// Ticks implements plot.Ticker.
func (plainTicks) Ticks(lo, hi float64) (list []plot.Tick) {
	if span := hi - lo; !(span > 0) || math.IsInf(span, 0) {
		return plot.DefaultTicks{}.Ticks(lo, hi)
	}
	ten := math.Pow(10, math.Floor(math.Log10((hi-lo)/maxSteps)))
	step := 10 * ten
	for _, k := range []float64{5, 2, 1} {
		if (hi-lo)/(k*ten) <= maxSteps {
			step = k * ten
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for k := math.Ceil(lo / step); k*step <= hi; k++ {
		t := plot.Tick{Value: k*step + 0, Label: strconv.FormatFloat(k*step+0, 'f', digits, 64)} // +0: no negative zero
		if math.Abs(t.Value) >= 1e6 {
			t.Label = short(t.Value)
		}
		list = append(list, t)
	}
	return list
}

// powerTicks are marks at powers of ten along an axis of logarithms, with names at as many of them as are read at a glance.
type powerTicks struct{}

// maxNamed is the number of names that an axis has space for.
const maxNamed = 5

// Ticks implements plot.Ticker.
func (powerTicks) Ticks(lo, hi float64) (list []plot.Tick) {
	first, last := math.Floor(lo), math.Ceil(hi)
	every := max(1, math.Ceil((last-first)/maxNamed))
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: e}
		if math.Mod(e-first, every) == 0 {
			t.Label = short(math.Pow(10, e))
		}
		list = append(list, t)
		for i := 2.0; i < 10 && every == 1; i++ {
			list = append(list, plot.Tick{Value: e + math.Log10(i)})
		}
	}
	return inside(list, lo, hi)
}

// valueTicks are marks at the values of points where they are few, which say more than round numbers.
func valueTicks(list []Series) plot.Ticker {
	var values []float64
	for _, s := range list {
		for _, p := range s.Points {
			values = append(values, p.X)
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) > maxValues {
		return plainTicks{}
	}
	var ticks plot.ConstantTicks
	var named float64
	for _, v := range values {
		t := plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)}
		if n := len(ticks); n > 0 && v-named < (values[len(values)-1]-values[0])/maxNamed {
			t.Label = "" // beside a name
		} else {
			named = v
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// maxValues is the number of values with a mark each.
const maxValues = 10

// inside are the marks that an axis has.
func inside(list []plot.Tick, lo, hi float64) (in []plot.Tick) {
	for _, t := range list {
		if t.Value >= lo && t.Value <= hi {
			in = append(in, t)
		}
	}
	return in
}

// short writes a number with the letter of its thousands.
func short(x float64) string {
	for _, u := range []struct {
		factor float64
		letter string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(x) >= 0.999*u.factor {
			return strconv.FormatFloat(x/u.factor, 'g', 4, 64) + u.letter
		}
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// logs are the logarithms of points to the base of ten. Axes are of logarithms rather than logarithmic: gonum centres the
// titles of those where they take space from the points.
func logs(points plotter.XYs) plotter.XYs {
	list := make(plotter.XYs, len(points))
	for i, p := range points {
		list[i] = plotter.XY{X: math.Log10(p.X), Y: math.Log10(p.Y)}
	}
	return list
}

// pad adds space beside the outermost points, which would be cut in half.
func pad(list ...*plot.Axis) {
	for _, a := range list {
		room := 0.05 * (a.Max - a.Min)
		a.Min, a.Max = a.Min-room, a.Max+room
	}
}

// units are the endings of columns and the units that they stand for.
var units = map[string]string{
	"us": "microseconds", "ms": "milliseconds", "ns": "nanoseconds", "s": "seconds", "uj": "microjoules", "mj": "millijoules", "mw": "milliwatts",
	"pj": "picojoules", "nj": "nanojoules", "w": "watts", "v": "volts", "mv": "millivolts", "k": "kelvins", "kib": "kibibytes", "mib": "mebibytes",
	"mb": "megabytes", "gb": "gigabytes", "mt": "million transfers", "mhz": "megahertz", "bytes": "bytes", "percent": "percent", "cycles": "cycles", "gbps": "gigabytes per second",
}

// Unit writes a unit, such as MB/s, in words: megabytes per second.
func Unit(unit string) string {
	parts := strings.Split(unit, "/")
	for i, p := range parts {
		if word, ok := units[strings.ToLower(p)]; ok {
			parts[i] = word
		}
	}
	if n := len(parts); n > 1 {
		parts[n-1] = strings.TrimSuffix(parts[n-1], "s") // per second, not seconds
	}
	return strings.Join(parts, " per ")
}

// Words writes the name of a column, such as latency_us, as the title of an axis: latency in microseconds.
func Words(column string) string {
	column = strings.TrimPrefix(column, "counter.")
	i := max(strings.LastIndexByte(column, '_'), strings.LastIndexByte(column, '.'))
	words := strings.NewReplacer("_", " ", ".", " ")
	unit, ok := units[column[i+1:]]
	switch {
	case !ok || i < 0:
		return words.Replace(column)
	case unit == column[i+1:]: // a word already
		return words.Replace(column)
	}
	return words.Replace(column[:i]) + " in " + unit
}
