package workbench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/soc"
)

type sensitivityFlags struct {
	device, keys, preference string
	results                  string
	by                       percentFlag
	all, assumed             bool
	workers                  int
	pace                     measure.Pace
}

// shownKeys is the number that sensitivity prints unless told to print all.
const shownKeys = 30

// NewSensitivity returns the command sensitivity.
func NewSensitivity(a *cli.App) *cobra.Command {
	f := &sensitivityFlags{by: 10}
	cmd := &cobra.Command{
		Use:   "sensitivity MODEL",
		Short: "rank the numbers of a SoC by what they change in a run",
		Long: `sensitivity runs a network on a device repeatedly, each time with one number of
the SoC file lowered or raised by --by percent, halved or doubled, and ranks the numbers by
their effect on latency or energy. Numbers without a public source are marked: those at
the top are worth measuring first. Impossible changes (a cache of 1.1 times
the sets, a clock that is not an operating point) are left out. Of the engines only the
sections of the device are varied, besides the shared ones; with --assumed only numbers
without a public source. With --results a run that was stopped goes on where it ended.`,
		Example: "  nnsoc sensitivity mobilenet_v1_0.25_128_quant --device npu --keys 'npu.*'\n" +
			"  nnsoc sensitivity mobilenet_v1_0.25_128_quant --device gpu --assumed --invocations 1\n  nnsoc sensitivity model.tflite --device dsp --by 20% --json",
		Args:              cli.ExactlyOne,
		ValidArgsFunction: input.CompleteModel,
		RunE:              func(_ *cobra.Command, args []string) error { return runSensitivity(a, f, args[0]) },
	}
	cli.PrintsLines(cmd, "keys[]")
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "", "device to run on, auto: a plan by prediction, or aosp: divided by Android's rule")
	fl.StringVar(&f.keys, "keys", "*", "try the keys that match; * stands for any text")
	_ = cmd.RegisterFlagCompletionFunc("keys", machine.CompleteKeys(a))
	fl.Var(&f.by, "by", "percent by which a number is lower and higher")
	fl.BoolVar(&f.all, "all", false, fmt.Sprintf("print all numbers that change something, not only %d", shownKeys))
	fl.StringVar(&f.results, "results", "", "keep the effect of each key in this file of JSON lines as it comes, and go on where the file ends")
	fl.BoolVar(&f.assumed, "assumed", false, "try only numbers without a public source")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "runs at the same time")
	f.pace.Add(fl)
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd, machine.Plans...)
	return cmd
}

// sensitivityReport is the JSON object of sensitivity.
type sensitivityReport struct {
	SchemaVersion int        `json:"schema_version"`
	Model         string     `json:"model"`
	SoC           string     `json:"soc"`
	Device        string     `json:"device"`
	ByPercent     float64    `json:"by_percent"`
	LatencyUS     float64    `json:"latency_us"` // of the SoC as it is
	EnergyUJ      float64    `json:"energy_uj"`
	Keys          []keyEntry `json:"keys"` // the largest effect first
}

// keyEntry is the effect of a number. A trial that no machine can run is missing.
type keyEntry struct {
	Key     string  `json:"key"`
	Value   float64 `json:"value"`
	Assumed bool    `json:"assumed"`
	Source  string  `json:"source"`
	// EffectPercent is the largest change of latency or energy by a change of --by percent,
	// of halving and doubling where no such change is possible.
	EffectPercent float64   `json:"effect_percent"`
	Lower         *keyTrial `json:"lower,omitempty"`
	Higher        *keyTrial `json:"higher,omitempty"`
	Halved        *keyTrial `json:"halved,omitempty"`
	Doubled       *keyTrial `json:"doubled,omitempty"`
}

// largest is the largest change of all trials.
func (e *keyEntry) largest() float64 {
	return max(e.Lower.effect(), e.Higher.effect(), e.Halved.effect(), e.Doubled.effect())
}

// keyTrial is a run with another value, relative to the SoC as it is.
type keyTrial struct {
	Value          float64 `json:"value"`
	Status         string  `json:"status"`
	LatencyPercent float64 `json:"latency_percent"`
	EnergyPercent  float64 `json:"energy_percent"`
}

// effect is the larger of the two changes.
func (t *keyTrial) effect() float64 {
	if t == nil {
		return 0
	}
	return max(math.Abs(t.LatencyPercent), math.Abs(t.EnergyPercent))
}

// glob makes a pattern with * a regular expression for whole keys.
func glob(s string) (*regexp.Regexp, error) {
	if len(s) > 1000 {
		return nil, errors.New("--keys: longer than 1000 bytes")
	}
	return regexp.Compile("^" + strings.ReplaceAll(regexp.QuoteMeta(s), `\*`, ".*") + "$")
}

// concerns reports whether a key may change a run on a device: the sections of other
// engines do not.
func concerns(key, device string) bool {
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "gpu", "dsp", "npu":
		return session.Divides(device) || section == device
	}
	return true
}

func runSensitivity(a *cli.App, f *sensitivityFlags, model string) (err error) {
	defer try.Catch(&err)
	l := try.V(newLab(a, f.preference, f.pace))
	match, err := glob(f.keys)
	switch {
	case err != nil:
		return cli.Usage(err)
	case f.device == "":
		return cli.Usage(errors.New("no device: give --device"))
	case !(f.by > 0 && f.by < 100):
		return cli.Usage(fmt.Errorf("--by %v, want above 0 and below 100 percent", &f.by))
	case f.workers < 1 || f.workers > 1024:
		return cli.Usage(fmt.Errorf("--workers %d, want 1 to 1024", f.workers))
	}
	keys, err := soc.Keys(a.SoC, try.V(machine.Changes(a))...)
	if err != nil {
		return cli.Usage(err)
	}
	keys = slices.DeleteFunc(keys, func(k soc.Key) bool {
		return !match.MatchString(k.Path) || !concerns(k.Path, f.device) || f.assumed && !k.Assumed()
	})
	if len(keys) == 0 {
		return cli.Usage(fmt.Errorf("--keys %s: no such key of %s that concerns %s", f.keys, a.SoC, f.device))
	}
	c := try.V(machine.LoadSoC(a))
	base := try.V(l.run(c, model, f.device))
	if base.result == nil {
		return cli.Usage(fmt.Errorf("%s runs nothing of %s", f.device, model))
	}
	form := try.V(l.form(model))
	r := &sensitivityReport{
		SchemaVersion: cli.SchemaVersion, Model: form.Model.Name, SoC: c.SoC.Name, Device: f.device, ByPercent: float64(f.by),
		LatencyUS: base.invocations.MeanUS, EnergyUJ: base.invocations.Energy, Keys: make([]keyEntry, len(keys)),
	}
	known := map[string]keyEntry{}
	first := journalHead{r.Model, r.SoC, r.Device, r.ByPercent, r.LatencyUS, r.EnergyUJ}
	journal := try.V(cli.OpenJournal(f.results, effectsKind, first, func(was journalHead) bool { return was == first }, func(e keyEntry) { known[e.Key] = e }))
	defer journal.Close()
	var left []int // keys that are to be tried
	lines := a.Lines()
	for i := range keys {
		if e, ok := known[keys[i].Path]; ok && e.Value == keys[i].Value {
			r.Keys[i] = e
			try.E(lines.Add(i, &r.Keys[i]))
		} else {
			left = append(left, i)
		}
	}
	failed := make([]error, len(left))
	parallel(a, f.workers, len(left), len(keys)-len(left), func(k int) string {
		i := left[k]
		r.Keys[i] = l.sensitivity(&keys[i], model, f, base)
		failed[k] = errors.Join(journal.Write(&r.Keys[i]), lines.Add(i, &r.Keys[i]))
		return fmt.Sprintf("%s %.2f %%", r.Keys[i].Key, r.Keys[i].EffectPercent)
	})
	if err := errors.Join(failed...); err != nil {
		return err
	}
	slices.SortStableFunc(r.Keys, func(x, y keyEntry) int {
		return cmp.Or(cmp.Compare(y.EffectPercent, x.EffectPercent), cmp.Compare(y.largest(), x.largest()))
	})
	if a.JSON {
		return a.PrintObject(r)
	}
	return r.print(a, f.all)
}

// journalHead is the first line of a file of --results: the run that the effects belong to.
type journalHead struct {
	Model     string  `json:"model"`
	SoC       string  `json:"soc"`
	Device    string  `json:"device"`
	ByPercent float64 `json:"by_percent"`
	LatencyUS float64 `json:"latency_us"`
	EnergyUJ  float64 `json:"energy_uj"`
}

// effectsKind is what a file of --results holds.
var effectsKind = cli.JournalKind{Lines: "effects", Depend: "model, SoC, device, --by, preference or pace"}

// parallel tries keys 0 to n-1, so many at a time, and reports its progress, with those that were done before and what came of the last.
func parallel(a *cli.App, workers, n, before int, try func(key int) string) {
	p := a.Progress()
	defer p.Done()
	var wait sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int)
	done := 0
	for range min(workers, n) {
		wait.Go(func() {
			for i := range next {
				last := try(i)
				mu.Lock()
				if done++; done%max(1, n/20) == 0 {
					p.Update("%d of %d keys, %.0f %%: %s", before+done, before+n, 100*float64(before+done)/float64(before+n), last)
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// sensitivity tries the values of a key.
func (l *lab) sensitivity(k *soc.Key, model string, f *sensitivityFlags, base *trial) keyEntry {
	e := keyEntry{Key: k.Path, Value: k.Value, Assumed: k.Assumed(), Source: k.Comment}
	share := float64(f.by) / 100
	try := func(x float64) *keyTrial {
		if k.Integer {
			x = math.Round(x)
		}
		if x == k.Value || x < k.Lo || x > k.Hi {
			return nil
		}
		c, err := l.load(soc.Change{Key: k.Path, Value: strconv.FormatFloat(x, 'f', -1, 64)})
		if err != nil {
			return nil
		}
		t, err := l.run(c, model, f.device)
		if err != nil || t.result == nil {
			return nil // a machine that cannot run it
		}
		return &keyTrial{
			Value: x, Status: t.status,
			LatencyPercent: 100 * (t.invocations.MeanUS/base.invocations.MeanUS - 1), EnergyPercent: 100 * (t.invocations.Energy/base.invocations.Energy - 1),
		}
	}
	step := math.Abs(k.Value) * share
	if k.Integer {
		step = max(1, math.Round(step)) // small whole numbers change by one
	}
	if k.Value != 0 {
		e.Lower, e.Higher, e.Halved, e.Doubled = try(k.Value-step), try(k.Value+step), try(k.Value/2), try(k.Value*2)
	}
	if e.Lower == nil && e.Higher == nil {
		e.EffectPercent = max(e.Halved.effect(), e.Doubled.effect())
	} else {
		e.EffectPercent = max(e.Lower.effect(), e.Higher.effect())
	}
	return e
}

// negligible is an effect in percent that is not printed.
const negligible = 0.005

// answer says which key changes the latency most, and which of those without a public source.
func (r *sensitivityReport) answer() string {
	most := func(assumed bool) string {
		var key *keyEntry
		var trial *keyTrial
		for i := range r.Keys {
			e := &r.Keys[i]
			if assumed && !e.Assumed {
				continue
			}
			for _, x := range e.near() {
				if size := math.Abs(x.LatencyPercent); size >= negligible && (trial == nil || size > math.Abs(trial.LatencyPercent)) {
					key, trial = e, x
				}
			}
		}
		if trial == nil {
			return ""
		}
		return fmt.Sprintf("%s (%.6g in place of %.6g: %+.2f %%)", key.Key, trial.Value, key.Value, trial.LatencyPercent)
	}
	all, assumed := most(false), most(true)
	switch {
	case all == "":
		return ""
	case assumed == "":
		return "Latency depends most on " + all + ", and on no key that is assumed."
	case assumed == all:
		return "Latency depends most on " + all + ", which is assumed."
	}
	return "Latency depends most on " + all + ", and of what is assumed on " + assumed + "."
}

// near are the trials that ran with the smallest changes: by percent, else half and twice the value.
func (e *keyEntry) near() (list []*keyTrial) {
	for _, pair := range [][2]*keyTrial{{e.Lower, e.Higher}, {e.Halved, e.Doubled}} {
		for _, x := range pair {
			if x != nil && x.Status == session.StatusOK {
				list = append(list, x)
			}
		}
		if list != nil {
			break
		}
	}
	return list
}

func (r *sensitivityReport) print(a *cli.App, all bool) error {
	fmt.Fprintf(a.Out, "%s on %s of %s: %.1f us, %.1f uJ\n", r.Model, r.Device, r.SoC, r.LatencyUS, r.EnergyUJ)
	shown := slices.DeleteFunc(slices.Clone(r.Keys), func(e keyEntry) bool { return e.largest() < negligible })
	effective := len(shown)
	if !all {
		shown = shown[:min(shownKeys, len(shown))]
	}
	assumed := 0
	for i := range r.Keys {
		if r.Keys[i].Assumed {
			assumed++
		}
	}
	fmt.Fprintf(a.Out, "%d keys tried, %d of them assumed; %d change latency or energy\n\n", len(r.Keys), assumed, effective)
	if text := r.answer(); text != "" {
		fmt.Fprintf(a.Out, "%s\n\n", a.Style().Bold(cli.Wrap(text)))
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "key\tvalue\t\tlatency -%v %%\t+%v %%\tx 1/2\tx 2\tenergy -%v %%\t+%v %%\tx 1/2\tx 2\t\n", r.ByPercent, r.ByPercent, r.ByPercent, r.ByPercent)
	for i := range shown {
		e := &shown[i]
		mark := ""
		if e.Assumed {
			mark = "assumed"
		}
		fmt.Fprintf(t, "%s\t%v\t%s\t", e.Key, e.Value, mark)
		for _, which := range []func(*keyTrial) float64{func(t *keyTrial) float64 { return t.LatencyPercent }, func(t *keyTrial) float64 { return t.EnergyPercent }} {
			for _, x := range []*keyTrial{e.Lower, e.Higher, e.Halved, e.Doubled} {
				switch {
				case x == nil:
					fmt.Fprint(t, "-\t")
				case math.Abs(which(x)) < negligible:
					fmt.Fprint(t, "0\t")
				default:
					fmt.Fprintf(t, "%+.2f %%\t", which(x))
				}
			}
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := effective - len(shown); n > 0 {
		_, err := fmt.Fprintf(a.Out, "and %d more (--all)\n", n)
		return err
	}
	return nil
}
