package dramtimes

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Row is one line of a table: a pattern, how it is driven and the results of other simulators.
type Row struct {
	Line    int
	Name    string // column pattern
	Params  string
	Pattern Pattern
	Window  int // W; 0 in an open loop
	Golden  *Golden
}

// Golden is the results of simulators for a row. Bands have their low and high ends; both are the value where a table
// has no band.
type Golden struct {
	GBps, LatMeanNs, LatP95Ns, RowHit Band
}

// Band is a closed interval; NaN where the table has nothing.
type Band struct{ Lo, Hi float64 }

// Has reports whether the table has it.
func (b Band) Has() bool { return !math.IsNaN(b.Lo) }

// Contains reports whether v is in the band widened by a tolerance.
func (b Band) Contains(v, tolerance float64) bool {
	return v >= b.Lo*(1-tolerance) && v <= b.Hi*(1+tolerance)
}

// Limits of a table.
const (
	maxRows       = 10_000
	maxLine       = 1 << 12
	maxTableWork  = 1 << 28 // bursts of all rows
	mostParameter = 200     // characters of a name
)

// goldenColumns are the columns of a band: the value, and its ends.
var goldenColumns = [...][3]string{
	{"gbps", "gbps_lo", "gbps_hi"}, {"lat_mean_ns", "mean_lo", "mean_hi"}, {"lat_p95_ns", "p95_lo", "p95_hi"}, {"row_hit", "", ""},
}

// Table reads rows: tab-separated columns under a line of names, of which pattern,
// params and W are required. Others than those of goldenColumns are returned as
// ignored. Empty lines and lines that begin with # are skipped. An error names file
// and line.
func Table(file, text string) (rows []Row, ignored []string, err error) {
	var names []string
	column := map[string]int{}
	work := int64(0)
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		fail := func(format string, a ...any) error {
			return fmt.Errorf("%s:%d: %s", file, i+1, fmt.Sprintf(format, a...))
		}
		if len(line) > maxLine {
			return nil, nil, fail("longer than %d bytes", maxLine)
		}
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if names == nil {
			names = fields
			if ignored, err = header(names, column); err != nil {
				return nil, nil, fail("%v", err)
			}
			continue
		}
		if len(fields) != len(names) {
			return nil, nil, fail("%d columns, want the %d of the first line", len(fields), len(names))
		}
		if len(rows) == maxRows {
			return nil, nil, fail("more than %d rows", maxRows)
		}
		r, err := row(fields, column)
		if err != nil {
			return nil, nil, fail("%v", err)
		}
		r.Line = i + 1
		if work += r.Pattern.bursts(); work > maxTableWork {
			return nil, nil, fail("the rows so far have more than %d bursts", maxTableWork)
		}
		rows = append(rows, r)
	}
	if names == nil {
		return nil, nil, fmt.Errorf("%s:1: no line of column names", file)
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("%s:1: no rows", file)
	}
	return rows, ignored, nil
}

func header(names []string, column map[string]int) (ignored []string, err error) {
	known := []string{"pattern", "params", "W"}
	for _, g := range goldenColumns {
		known = append(known, g[:]...)
	}
	for i, n := range names {
		if _, twice := column[n]; twice {
			return nil, fmt.Errorf("column %q twice", n)
		}
		column[n] = i
		if n == "" || !slices.Contains(known, n) {
			ignored = append(ignored, n)
		}
	}
	for _, n := range known[:3] {
		if _, ok := column[n]; !ok {
			return nil, fmt.Errorf("no column %q", n)
		}
	}
	return ignored, nil
}

func row(fields []string, column map[string]int) (Row, error) {
	r := Row{Name: fields[column["pattern"]], Params: fields[column["params"]]}
	if r.Name == "" || len(r.Name) > mostParameter {
		return r, fmt.Errorf("pattern %q, want 1 to %d characters", r.Name, mostParameter)
	}
	var err error
	if r.Pattern, err = ParsePattern(r.Params); err != nil {
		return r, err
	}
	switch w := fields[column["W"]]; {
	case r.Pattern.Period > 0:
		if w != "-" && w != "" {
			return r, fmt.Errorf("column W = %q: a pattern with T is an open loop, want -", w)
		}
	default:
		if r.Window, err = strconv.Atoi(w); err != nil || r.Window < 1 || r.Window > maxWindow {
			return r, fmt.Errorf("column W = %q, want 1..%d", w, maxWindow)
		}
	}
	var g Golden
	any := false
	for i, b := range []*Band{&g.GBps, &g.LatMeanNs, &g.LatP95Ns, &g.RowHit} {
		if *b, err = band(fields, column, goldenColumns[i]); err != nil {
			return r, err
		}
		any = any || b.Has()
	}
	if any {
		r.Golden = &g
	}
	return r, nil
}

// band reads the ends of a band, or the value alone.
func band(fields []string, column map[string]int, names [3]string) (Band, error) {
	var v [3]float64
	for i, n := range names {
		v[i] = math.NaN()
		at, ok := column[n]
		if !ok || n == "" || fields[at] == "-" || fields[at] == "" {
			continue
		}
		x, err := strconv.ParseFloat(fields[at], 64)
		if err != nil || !(x >= 0 && x < 1e12) {
			return Band{}, fmt.Errorf("%s = %q, want a number or -", n, fields[at])
		}
		v[i] = x
	}
	b := Band{v[1], v[2]}
	switch lo, hi := math.IsNaN(b.Lo), math.IsNaN(b.Hi); {
	case lo && hi:
		b = Band{v[0], v[0]}
	case lo:
		return Band{}, fmt.Errorf("%s without %s", names[2], names[1])
	case hi:
		return Band{}, fmt.Errorf("%s without %s", names[1], names[2])
	}
	if b.Lo > b.Hi {
		return Band{}, fmt.Errorf("%s = %v above %s = %v", names[1], b.Lo, names[2], b.Hi)
	}
	return b, nil
}
