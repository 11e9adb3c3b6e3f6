package budget

import "slices"

// Regression is the share of its time by which a work may get slower between two builds.
const Regression = 0.20

// Change is a work in two builds.
type Change struct {
	Work      string
	BaseMS    float64 // median of the rounds
	NewMS     float64
	Ratio     float64 // new over base, the median of the rounds
	Regressed bool
	// Only is the build that has the work, if not both.
	Only string
}

// Compare compares the user CPU times of two builds, whose reports are those of the same rounds: build and base
// alternated, so that the host's load affects both. Works that only one of them measures are listed too.
func Compare(base, build []*Report) []Change {
	before, names := times(base)
	after, more := times(build)
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	var list []Change
	for _, name := range names {
		b, a := before[name], after[name]
		c := Change{Work: name, BaseMS: median(b), NewMS: median(a)}
		switch {
		case len(a) == 0:
			c.Only = "base"
		case len(b) == 0:
			c.Only = "new"
		default:
			ratios := make([]float64, min(len(a), len(b)))
			for i := range ratios {
				ratios[i] = a[i] / b[i]
			}
			c.Ratio = median(ratios)
			c.Regressed = !(c.Ratio <= 1+Regression)
		}
		list = append(list, c)
	}
	return list
}

// times are the milliseconds of each work, report by report, and the works in order.
func times(reports []*Report) (map[string][]float64, []string) {
	ms := map[string][]float64{}
	var names []string
	for _, r := range reports {
		seen := map[string]bool{}
		for i := range r.Rows {
			row := &r.Rows[i]
			if row.Skipped != "" || seen[row.Work] {
				continue
			}
			seen[row.Work] = true
			if ms[row.Work] == nil {
				names = append(names, row.Work)
			}
			ms[row.Work] = append(ms[row.Work], row.MS)
		}
	}
	return ms, names
}
