package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/sim/soc"
)

// maxPoints bounds a sweep.
const maxPoints = 1_000_000

// Axis is what varies: keys that have the same value in each point, and their values or an
// interval of them.
type Axis struct {
	Keys    []string
	Values  []string // nil: an interval
	Lo, Hi  float64
	Integer bool // of the interval whole numbers only
}

// String is the text that ParseAxis reads.
func (a *Axis) String() string {
	keys := strings.Join(a.Keys, "+")
	if a.Values == nil {
		return fmt.Sprintf("%s=%v..%v", keys, a.Lo, a.Hi)
	}
	return keys + "=" + strings.Join(a.Values, ",")
}

// ParseAxis reads KEY[+KEY]...=VALUE,VALUE... or KEY=LO..HI or KEY=LO..HI/N, which are N values at equal distances.
// whole reports the keys that accept whole numbers only.
func ParseAxis(s string, integer func(key string) bool) (*Axis, error) {
	x, err := soc.ParseChange(s)
	if err != nil {
		return nil, fmt.Errorf("%w or dram.mt_per_s=3200..4266/5", err)
	}
	a := &Axis{Keys: strings.Split(x.Key, "+")}
	for i, k := range a.Keys {
		if k == "" || slices.Contains(a.Keys[:i], k) {
			return nil, fmt.Errorf("%q: a key is empty or there twice", s)
		}
	}
	lo, hi, interval := strings.Cut(x.Value, "..")
	if !interval {
		a.Values = strings.Split(x.Value, ",")
		for i, v := range a.Values {
			if v == "" || slices.Contains(a.Values[:i], v) {
				return nil, fmt.Errorf("%q: a value is empty or there twice", s)
			}
		}
		return a, nil
	}
	hi, count, counted := strings.Cut(hi, "/")
	var errs [2]error
	a.Lo, errs[0] = strconv.ParseFloat(lo, 64)
	a.Hi, errs[1] = strconv.ParseFloat(hi, 64)
	if errors.Join(errs[:]...) != nil || !(a.Lo < a.Hi) || math.IsInf(a.Lo, 0) || math.IsInf(a.Hi, 0) {
		return nil, fmt.Errorf("%q: want LO..HI or LO..HI/N with numbers LO < HI", s)
	}
	a.Integer = slices.ContainsFunc(a.Keys, integer)
	if !counted {
		return a, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 2 || n > maxPoints {
		return nil, fmt.Errorf("%q: want 2 to %d values", s, maxPoints)
	}
	for i := range n {
		a.Values = append(a.Values, a.at((a.Lo*float64(n-1-i)+a.Hi*float64(i))/float64(n-1)))
	}
	if len(slices.Compact(slices.Clone(a.Values))) < n {
		return nil, fmt.Errorf("%q: there are no %d different numbers in it that the key accepts", s, n)
	}
	return a, nil
}

// at is the text of a number of an interval: six digits, or a whole number.
func (a *Axis) at(x float64) string {
	if a.Integer {
		return strconv.FormatFloat(min(math.Floor(a.Hi), max(math.Ceil(a.Lo), math.Round(x))), 'f', -1, 64)
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	return strconv.FormatFloat(r, 'f', -1, 64)
}

// Point is one run of a sweep.
type Point struct {
	Index         int // its number, from 0
	Model, Device string
	Changes       []soc.Change
}

// String names the point in messages.
func (p *Point) String() string {
	s := fmt.Sprintf("point %d: %s on %s", p.Index, p.Model, p.Device)
	for i, c := range p.Changes {
		if i == 0 {
			s += " with "
		} else {
			s += ", "
		}
		s += c.String()
	}
	return s
}

// Plan is the points of a sweep and the keys that differ between them, in their original order.
type Plan struct {
	Points []Point
	Keys   []string
}

// spread applies each set of changes to all models and devices.
func (p *Plan) spread(models, devices []string, sets [][]soc.Change) error {
	if n := len(models) * len(devices) * len(sets); n > maxPoints || len(sets) > maxPoints {
		return fmt.Errorf("more than %d points", maxPoints)
	}
	for _, set := range sets {
		for _, m := range models {
			for _, d := range devices {
				p.Points = append(p.Points, Point{len(p.Points), m, d, set})
			}
		}
	}
	return nil
}

// keys lists the keys of all axes; a key of two axes is an error.
func keys(axes []*Axis) ([]string, error) {
	var list []string
	for _, a := range axes {
		for _, k := range a.Keys {
			if slices.Contains(list, k) {
				return nil, fmt.Errorf("%s varies twice", k)
			}
			list = append(list, k)
		}
	}
	return list, nil
}

// changes sets the keys of an axis.
func (a *Axis) changes(value string) []soc.Change {
	var list []soc.Change
	for _, k := range a.Keys {
		list = append(list, soc.Change{Key: k, Value: value})
	}
	return list
}

// Product plans the cross product of axes, models and devices. The last axis varies
// fastest; without axes there is the SoC as it is.
func Product(models, devices []string, axes []*Axis) (*Plan, error) {
	p := &Plan{}
	var err error
	if p.Keys, err = keys(axes); err != nil {
		return nil, err
	}
	sets := [][]soc.Change{nil}
	for _, a := range axes {
		if a.Values == nil {
			return nil, fmt.Errorf("%s is an interval: give the number of values, as %s/5, or of samples", a, a)
		}
		if len(sets)*len(a.Values) > maxPoints {
			return nil, fmt.Errorf("more than %d points", maxPoints)
		}
		var more [][]soc.Change
		for _, s := range sets {
			for _, v := range a.Values {
				more = append(more, slices.Concat(s, a.changes(v)))
			}
		}
		sets = more
	}
	return p, p.spread(models, devices, sets)
}
