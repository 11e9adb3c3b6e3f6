package cputimes

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Row is a measured time beside ours.
type Row struct {
	What  string  `json:"workload"` // a network, or a kernel with its shape
	Type  string  `json:"type"`     // f32 or i8
	Cores string  `json:"cores"`    // on which it runs
	Role  string  `json:"role"`     // fit: keys of the model follow from it; check
	Ms    float64 `json:"published_ms"`
	Ours  float64 `json:"simulated_ms"`
	Ratio float64 `json:"ratio"` // ours / published
}

// Group sums up rows of the same cores and type.
type Group struct {
	Cores    string  `json:"cores"`
	Type     string  `json:"type"`
	Rows     int     `json:"row_count"`
	Mean     float64 `json:"geometric_mean"`
	RMS      float64 `json:"rms"` // of the ratios' distance from 1
	Checks   int     `json:"checks"`
	CheckRMS float64 `json:"check_rms"` // of the rows that are checks
	Worst    float64 `json:"worst"`
}

// coreSets are the cores that an inference runs on: a number of threads on clusters of
// pixel4, or a machine of cores.toml.
var coreSets = []struct {
	name     string
	threads  int
	clusters []string
}{
	{"prime", 1, []string{"prime"}},
	{"gold", 1, []string{"gold"}},
	{"gold2", 2, []string{"gold"}},
	{"gold3", 3, []string{"gold"}},
	{"prime+gold", 2, []string{"prime", "gold"}},
	{"a55", 1, nil},
	{"a75-9820", 1, nil},
	{"a75-710", 1, nil},
}

//go:embed cores.toml
var coresFile []byte

//go:embed networks.tsv
var networksTable string

// specOf is the model of a set of cores. On prime and gold the prime core has one thread.
func specOf(set string) (*timing.CPUSpec, error) {
	c, err := soc.Load("pixel4")
	if err != nil {
		return nil, err
	}
	i := position(set)
	if i == len(coreSets) {
		return nil, fmt.Errorf("cpu: no cores are called %q", set)
	}
	if s := coreSets[i]; s.clusters != nil {
		c.CPU.Pin(s.threads, s.clusters...)
	} else {
		if c.CPU, err = otherCores(set); err != nil {
			return nil, err
		}
	}
	return devices.CPUSpec(c, sim.FastSingleAnswer)
}

// Little is the cluster of small cores of a preset on which an inference has no threads, nil where cores.toml has none.
func Little(preset string) (*soc.CPU, error) {
	set, ok := map[string]struct{ table, name string }{"pixel4": {"a55", "silver"}}[preset]
	if !ok {
		return nil, nil
	}
	c, err := otherCores(set.table)
	if err != nil {
		return nil, err
	}
	c.Clusters[0].Name = set.name
	return c, nil
}

// otherCores reads a machine of cores.toml.
func otherCores(name string) (*soc.CPU, error) {
	var other map[string]*soc.CPU
	if err := toml.Unmarshal(coresFile, &other); err != nil {
		return nil, fmt.Errorf("cpu: cores.toml: %w", err)
	}
	return other[name], nil
}

// Networks prices all rows of whole networks.
func Networks() ([]Row, error) {
	lines := table(networksTable)
	sets := lines[0][3:]
	specs := make([]*timing.CPUSpec, len(sets))
	for i := range sets {
		var err error
		if specs[i], err = specOf(sets[i]); err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", sets[i], err)
		}
	}
	var rows []Row
	for _, f := range lines[1:] {
		m, err := model(f[0], f[1] == "f32")
		if err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
		}
		for i, text := range f[3:] {
			if text == "-" {
				continue
			}
			ms, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
			}
			r := Row{What: f[0], Type: f[1], Cores: sets[i], Role: f[2], Ms: ms}
			if err := r.price(specs[i], m); err != nil {
				return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// price fills in ours.
func (r *Row) price(s *timing.CPUSpec, m *nn.Model) error {
	t, err := s.Estimate(nil, m)
	if err != nil {
		return fmt.Errorf("cpu: %s on %s: %w", r.What, r.Cores, err)
	}
	r.Ours = float64(t.TimeFs) / 1e12
	r.Ratio = r.Ours / r.Ms
	return nil
}

// Groups sums up rows by cores and type, in the order of the core sets.
func Groups(rows []Row) []Group {
	var l []Group
	for _, r := range rows {
		i := slices.IndexFunc(l, func(g Group) bool { return g.Cores == r.Cores && g.Type == r.Type })
		if i < 0 {
			i, l = len(l), append(l, Group{Cores: r.Cores, Type: r.Type, Worst: 1})
		}
		g := &l[i]
		off := (r.Ratio - 1) * (r.Ratio - 1)
		g.Rows++
		g.Mean += math.Log(r.Ratio)
		g.RMS += off
		if r.Role == "check" {
			g.Checks++
			g.CheckRMS += off
		}
		if math.Abs(math.Log(r.Ratio)) > math.Abs(math.Log(g.Worst)) {
			g.Worst = r.Ratio
		}
	}
	for i := range l {
		g := &l[i]
		g.Mean = math.Exp(g.Mean / float64(g.Rows))
		g.RMS = math.Sqrt(g.RMS / float64(g.Rows))
		g.CheckRMS = math.Sqrt(g.CheckRMS / float64(max(g.Checks, 1)))
	}
	slices.SortStableFunc(l, func(x, y Group) int {
		return cmp.Or(cmp.Compare(x.Type, y.Type), position(x.Cores)-position(y.Cores))
	})
	return l
}

// position is the place of a core set among them.
func position(set string) int {
	for i := range coreSets {
		if coreSets[i].name == set {
			return i
		}
	}
	return len(coreSets)
}
