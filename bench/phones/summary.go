package phones

import (
	"cmp"
	"math"
	"slices"
)

// Group sums up the ratios of rows.
type Group struct {
	Engine   string  `json:"engine"`
	Measure  string  `json:"measure"`
	Role     string  `json:"role,omitempty"`        // "" for all
	Phone    string  `json:"phone,omitempty"`       // "" for all
	Class    string  `json:"model_class,omitempty"` // "" for all
	Rows     int     `json:"row_count"`
	Median   float64 `json:"median"`
	Within10 float64 `json:"within_10_share"`
	Within20 float64 `json:"within_20_share"`
	Low      float64 `json:"low"`   // the least ratio
	High     float64 `json:"high"`  // the largest ratio
	Worst    float64 `json:"worst"` // the ratio farthest from 1, as a factor

	rank int
}

// Groups sums up rows by engine and measure: all, by role, by phone, and by class of network.
func Groups(rows []Row) []Group {
	ratios := map[Group][]float64{}
	for _, r := range rows {
		g := Group{Engine: r.Engine, Measure: r.Measure}
		byRole, byPhone, byClass := g, g, g
		byRole.Role, byRole.rank = r.Role, 1
		byPhone.Phone, byPhone.rank = r.Phone, 2
		byClass.Class, byClass.rank = r.Class, 3
		for _, k := range []Group{g, byRole, byPhone, byClass} {
			ratios[k] = append(ratios[k], r.Ratio)
		}
	}
	var l []Group
	for g, x := range ratios {
		g.sumUp(x)
		l = append(l, g)
	}
	slices.SortFunc(l, func(x, y Group) int {
		return cmp.Or(cmp.Compare(slices.Index(engines, x.Engine), slices.Index(engines, y.Engine)), -cmp.Compare(x.Measure, y.Measure), cmp.Compare(x.rank, y.rank),
			cmp.Compare(x.Role, y.Role), cmp.Compare(x.Phone, y.Phone), cmp.Compare(x.Class, y.Class))
	})
	return l
}

func (g *Group) sumUp(x []float64) {
	slices.Sort(x)
	g.Rows, g.Median, g.Low, g.High, g.Worst = len(x), median(x), x[0], x[len(x)-1], 1
	for _, r := range x {
		off := math.Abs(r - 1)
		if off <= 0.1 {
			g.Within10++
		}
		if off <= 0.2 {
			g.Within20++
		}
		if math.Abs(math.Log(r)) > math.Abs(math.Log(g.Worst)) {
			g.Worst = r
		}
	}
	g.Within10 /= float64(len(x))
	g.Within20 /= float64(len(x))
}

// median of sorted values, of which there are some.
func median(x []float64) float64 { return (x[(len(x)-1)/2] + x[len(x)/2]) / 2 }

// Of names what all rows of the group have in common beside the engine.
func (g *Group) Of() string { return cmp.Or(g.Role, g.Phone, g.Class, "all") }

// Pair is a network that two engines of a phone ran.
type Pair struct {
	Phone     string  `json:"phone"`
	Network   string  `json:"model"`
	First     string  `json:"first_engine"` // the CPU, where it is one of them
	Second    string  `json:"second_engine"`
	Published float64 `json:"published_speedup"` // time of the first engine over that of the second
	Simulated float64 `json:"simulated_speedup"` // the same of ours
	Right     bool    `json:"order_right"`       // both agree which engine is faster
}

// Pairs are the latencies of two engines for the same network on the same phone, all sets of cores of a CPU apart.
func Pairs(rows []Row) []Pair {
	l := []Pair{}
	for i := range rows {
		for j := range rows {
			x, y := &rows[i], &rows[j]
			if x.Phone != y.Phone || x.Network != y.Network || x.Measure != Latency || y.Measure != Latency || slices.Index(engines, x.Engine) >= slices.Index(engines, y.Engine) {
				continue
			}
			p := Pair{Phone: x.Phone, Network: x.Network, First: x.Engine, Second: y.Engine, Published: x.PublishedMS / y.PublishedMS, Simulated: x.SimulatedMS / y.SimulatedMS}
			if x.Cores != "" {
				p.First += " (" + x.Cores + ")"
			}
			p.Right = p.Published >= 1 == (p.Simulated >= 1)
			l = append(l, p)
		}
	}
	return l
}

// Order sums up pairs.
type Order struct {
	Pairs int     `json:"pair_count"`
	Right float64 `json:"right_share"` // of the pairs whose faster engine is right
	// Speedup is the median of simulated over published speed-ups over the CPU, by the engine that has them.
	Speedup map[string]float64 `json:"cpu_speedup_ratios"`
}

// OrderOf sums up pairs.
func OrderOf(pairs []Pair) Order {
	o := Order{Pairs: len(pairs), Speedup: map[string]float64{}}
	ratios := map[string][]float64{}
	for _, p := range pairs {
		if p.Right {
			o.Right += 1 / float64(len(pairs))
		}
		if p.First[:min(3, len(p.First))] == "cpu" {
			ratios[p.Second] = append(ratios[p.Second], p.Simulated/p.Published)
		}
	}
	for engine, x := range ratios {
		slices.Sort(x)
		o.Speedup[engine] = median(x)
	}
	return o
}

// Reasons are why rows of an engine and phone differ by more than their bar.
type Reasons struct {
	Engine, Phone string
	Why           string // "" of rows without a reason
	Networks      []string
}

// ReasonsOf are the rows beyond the bars of their engines, by reason.
func ReasonsOf(rows []Row) (l []Reasons) {
	for i := range rows {
		r := &rows[i]
		if !r.Misses() {
			continue
		}
		k := slices.IndexFunc(l, func(x Reasons) bool { return x.Engine == r.Engine && x.Phone == r.Phone && x.Why == r.Reason })
		if k < 0 {
			k, l = len(l), append(l, Reasons{Engine: r.Engine, Phone: r.Phone, Why: r.Reason})
		}
		if !slices.Contains(l[k].Networks, r.Network) {
			l[k].Networks = append(l[k].Networks, r.Network)
		}
	}
	return l
}
