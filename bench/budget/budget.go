package budget

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Row is one line of the budget: the limit of a work's time relative to a yardstick.
type Row struct {
	Work      string   `json:"workload"`
	Yardstick []string `json:"baseline"` // their times are added
	Goal      float64  `json:"goal"`     // at most so many times the yardstick
	Source    string   `json:"goal_source"`

	MS    float64 `json:"user_ms"` // user CPU of the work, the median of the rounds
	Ratio float64 `json:"ratio"`   // to the yardstick, the median of the rounds
	Low   float64 `json:"p10"`     // of the ratio
	High  float64 `json:"p90"`
	Met   bool    `json:"met"`
	// Skipped is the reason why the row was not measured.
	Skipped string `json:"skip_reason,omitempty"`
}

// Yardstick is the reference that works are measured against.
type Yardstick struct {
	Name string  `json:"name"`
	MS   float64 `json:"user_ms"` // user CPU, the median of the rounds
}

// Report is the JSON object of bench budget.
type Report struct {
	SchemaVersion int         `json:"schema_version"`
	SoC           string      `json:"soc"`
	Host          string      `json:"host"` // operating system, architecture, vector instructions
	Rounds        int         `json:"rounds"`
	Rows          []Row       `json:"rows"`
	Yardsticks    []Yardstick `json:"baselines"`
}

// Missed are the works whose goal is not met.
func (r *Report) Missed() (list []string) {
	for i := range r.Rows {
		if r.Rows[i].Skipped == "" && !r.Rows[i].Met {
			list = append(list, r.Rows[i].Work)
		}
	}
	return list
}

// Options of Measure.
type Options struct {
	SoC    *soc.Config
	Rounds int
	// Only picks the rows whose work contains the text; "" is all.
	Only string
	// Program and Arguments start nnsoc for the rows of commands, with the SoC's flags.
	Program   string
	Arguments []string
	Progress  func(i, n int, what string)
}

// errSkip is the reason that a work cannot be measured here.
type errSkip string

func (e errSkip) Error() string { return string(e) }

// least is the minimum user CPU time of a sample of a work: ten ticks of the kernel's accounting.
const least = 10 * cputime.Resolution

// meter is a work with the times of its executions.
type meter struct {
	once    func() (time.Duration, error) // user CPU of the work done once
	times   int                           // how often a sample does the work, 0: not known yet
	samples []float64                     // seconds for one
	skipped string
}

// warm does the work without counting it and finds out how often a sample has to do it. A process of its
// own begins anew each time.
func (m *meter) warm() error {
	if m.skipped != "" || m.times > 0 {
		return nil
	}
	for m.times = 1; ; {
		spent, err := m.spend()
		if err != nil || spent >= least {
			return err
		}
		m.times = min(4*m.times, int(float64(m.times)*max(2, 1.2*least.Seconds()/max(spent.Seconds(), 1e-3))))
	}
}

// sample records a time of the work.
func (m *meter) sample() error {
	if m.skipped != "" {
		return nil
	}
	spent, err := m.spend()
	m.samples = append(m.samples, max(spent, time.Microsecond).Seconds()/float64(m.times))
	return err
}

func (m *meter) spend() (sum time.Duration, err error) {
	for range m.times {
		d, err := m.once()
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// timed is a meter of a function in this process.
func timed(f func() error) *meter {
	return &meter{once: func() (time.Duration, error) {
		start := cputime.User()
		err := f()
		return cputime.User() - start, err
	}}
}

// Measure measures the budget of a SoC: rounds of all works and yardsticks, after one that is not counted.
func Measure(o Options) (*Report, error) {
	rows := rowsOf(o.SoC, o.Only)
	if len(rows) == 0 {
		return nil, fmt.Errorf("budget: no row of %s contains %q", o.SoC.SoC.Name, o.Only)
	}
	b := &bench{Options: o, meters: map[string]*meter{}}
	defer b.close()
	names, err := b.open(rows)
	if err != nil {
		return nil, err
	}
	for round := range o.Rounds + 1 { // the first one is not counted
		for i, name := range names {
			o.Progress(round*len(names)+i, (o.Rounds+1)*len(names), name)
			do := b.meters[name].sample
			if round == 0 {
				do = b.meters[name].warm
			}
			if err := do(); err != nil {
				return nil, fmt.Errorf("budget: %s: %w", name, err)
			}
		}
	}
	r := &Report{SoC: o.SoC.SoC.Name, Host: host(), Rounds: o.Rounds, Rows: rows}
	measured := map[string]bool{}
	for i := range r.Rows {
		b.fill(&r.Rows[i])
		for _, y := range r.Rows[i].Yardstick {
			if m := b.meters[y]; !measured[y] && m.skipped == "" {
				measured[y] = true
				r.Yardsticks = append(r.Yardsticks, Yardstick{y, 1e3 * median(m.samples)})
			}
		}
	}
	return r, nil
}

// open prepares the works of the rows, each once, in the order of the rows.
func (b *bench) open(rows []Row) (names []string, err error) {
	for i := range rows {
		for _, name := range append([]string{rows[i].Work}, rows[i].Yardstick...) {
			if b.meters[name] != nil {
				continue
			}
			b.Progress(0, 0, "prepare "+name)
			m, err := b.prepare(name)
			var skip errSkip
			if errors.As(err, &skip) {
				m, err = &meter{skipped: skip.Error()}, nil
			}
			if err != nil {
				return nil, fmt.Errorf("budget: %s: %w", name, err)
			}
			b.meters[name] = m
			names = append(names, name)
		}
	}
	return names, nil
}

// fill puts figures into a row.
func (b *bench) fill(r *Row) {
	work := b.meters[r.Work]
	r.Skipped = work.skipped
	against := make([]float64, b.Rounds)
	for _, name := range r.Yardstick {
		y := b.meters[name]
		if y.skipped != "" {
			r.Skipped = y.skipped
			return
		}
		for i, s := range y.samples {
			against[i] += s
		}
	}
	if r.Skipped != "" {
		return
	}
	r.measured(work.samples, against)
}

// measured sets the ratio of each round, its median and, as its spread, the 10th and 90th percentiles.
func (r *Row) measured(work, against []float64) {
	ratios := make([]float64, len(work))
	for i := range work {
		ratios[i] = work[i] / against[i]
	}
	slices.Sort(ratios)
	r.MS = 1e3 * median(work)
	r.Ratio = stat.Quantile(0.5, stat.Empirical, ratios, nil)
	r.Low = stat.Quantile(0.1, stat.Empirical, ratios, nil)
	r.High = stat.Quantile(0.9, stat.Empirical, ratios, nil)
	r.Met = r.Ratio <= r.Goal
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Clone(values)
	slices.Sort(values)
	return stat.Quantile(0.5, stat.Empirical, values, nil)
}

// rowsOf are the rows of the engines that a SoC has.
func rowsOf(c *soc.Config, only string) (list []Row) {
	engines := map[string]bool{"dsp": c.DSP != nil, "npu": c.NPU != nil, "gpu": c.GPU != nil, "cpu": c.CPU != nil}
	for _, r := range table {
		if strings.Contains(r.Work, only) && !slices.ContainsFunc(r.needs, func(e string) bool { return !engines[e] }) {
			list = append(list, r.Row)
		}
	}
	return list
}
