package scenario

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Aggregate is what a strategy did over scenarios. Half-widths are those of 95 % confidence intervals by Student's t
// over scenarios; they are left out of fewer than two.
type Aggregate struct {
	Strategy        string  `json:"strategy"`           // name of the strategy
	Scenarios       int     `json:"scenario_count"`     // that it ran
	MissedPercent   float64 `json:"missed_percent"`     // mean share of deadlines that are missed
	MissedHalfWidth float64 `json:"missed_half_width"`  // of its confidence interval
	MeanMS          float64 `json:"mean_ms"`            // mean of the mean times from arrival to result
	MeanHalfWidthMS float64 `json:"mean_half_width_ms"` // of its confidence interval
	Ratio           float64 `json:"latency_ratio"`      // geometric mean of its mean latency beside the first strategy's
	RatioLow        float64 `json:"latency_ratio_low"`  // lower end of its confidence interval
	RatioHigh       float64 `json:"latency_ratio_high"` // upper end of its confidence interval
	EnergyRatio     float64 `json:"energy_ratio"`       // geometric mean of its energy beside the first strategy's
	Best            int     `json:"best_count"`         // scenarios in which no strategy misses fewer deadlines, or as many and has a shorter mean
	// Tied: the interval of the latency holds 1, and that of the first strategy's missed deadlines overlaps this one's: no order
	// among the two is known.
	Tied bool `json:"tied"`
}

// Sum compares strategies over scenarios, each a list of summaries. Scenarios in which some strategy has no summary
// count for the others alone.
func Sum(scenarios [][]*Summary) (list []*Aggregate) {
	type samples struct{ missed, mean, latency, energy []float64 }
	all := map[string]*samples{}
	best := map[string]int{}
	var order []string
	for _, s := range scenarios {
		for _, x := range s {
			if all[x.Strategy] == nil {
				all[x.Strategy] = &samples{}
				order = append(order, x.Strategy)
			}
		}
	}
	for _, s := range scenarios {
		first := slices.IndexFunc(s, func(x *Summary) bool { return x.Strategy == order[0] })
		var winner *Summary
		for _, x := range s {
			y := all[x.Strategy]
			y.missed = append(y.missed, 100*float64(x.Missed)/float64(max(1, x.JobCount)))
			y.mean = append(y.mean, x.MeanMS)
			if first >= 0 && s[first].MeanMS > 0 && x.MeanMS > 0 && s[first].EnergyUJ > 0 && x.EnergyUJ > 0 {
				y.latency = append(y.latency, math.Log(x.MeanMS/s[first].MeanMS))
				y.energy = append(y.energy, math.Log(x.EnergyUJ/s[first].EnergyUJ))
			}
			if winner == nil || x.Missed < winner.Missed || x.Missed == winner.Missed && x.MeanMS < winner.MeanMS {
				winner = x
			}
		}
		if winner != nil {
			best[winner.Strategy]++
		}
	}
	for _, name := range order {
		y := all[name]
		x := &Aggregate{Strategy: name, Scenarios: len(y.missed), Best: best[name]}
		x.MissedPercent, x.MissedHalfWidth = interval(y.missed)
		x.MeanMS, x.MeanHalfWidthMS = interval(y.mean)
		mean, half := interval(y.latency)
		x.Ratio, x.RatioLow, x.RatioHigh = math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half)
		energy, _ := interval(y.energy)
		x.EnergyRatio = math.Exp(energy)
		list = append(list, x)
	}
	for i, x := range list {
		overlap := math.Abs(x.MissedPercent-list[0].MissedPercent) <= x.MissedHalfWidth+list[0].MissedHalfWidth
		x.Tied = i > 0 && overlap && (len(all[x.Strategy].latency) < 2 || x.RatioLow <= 1 && x.RatioHigh >= 1)
	}
	return list
}

// interval is the mean of samples and the half-width of its 95 % confidence interval, 0 of fewer than two.
func interval(samples []float64) (mean, half float64) {
	if len(samples) == 0 {
		return 0, 0
	}
	mean = stat.Mean(samples, nil)
	if n := float64(len(samples)); n > 1 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
		half = t * stat.StdErr(stat.StdDev(samples, nil), n)
	}
	return mean, half
}
