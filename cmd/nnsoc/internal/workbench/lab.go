package workbench

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// lab runs networks on machines. Networks are read, and their results computed on the
// reference CPU, once. Its methods may be called from several goroutines.
type lab struct {
	app  *cli.App
	pref hal.Preference
	pace measure.Pace

	mu    sync.Mutex
	forms map[string]func() (*input.Form, error)
}

func newLab(a *cli.App, preference string, pace measure.Pace) (*lab, error) {
	pref, err := machine.ParsePreference(preference)
	if err != nil {
		return nil, err
	}
	return &lab{app: a, pref: pref, pace: pace, forms: map[string]func() (*input.Form, error){}}, pace.Check()
}

// form is a network by the name that a MODEL argument has.
func (l *lab) form(model string) (*input.Form, error) {
	l.mu.Lock()
	f := l.forms[model]
	if f == nil {
		f = sync.OnceValues(func() (*input.Form, error) {
			m, err := input.ReadModel(l.app, model, input.Choice{})
			if err != nil {
				return nil, err
			}
			form, err := input.NewForm(m, &input.Flags{Norm: tensor.DefaultNormalization})
			if err != nil {
				return nil, err
			}
			return form, input.Reference(form)
		})
		l.forms[model] = f
	}
	l.mu.Unlock()
	return f()
}

// load reads the SoC with changes, which precede those of --set.
func (l *lab) load(changes ...soc.Change) (*soc.Config, error) {
	all, err := l.with(changes)
	if err != nil {
		return nil, err
	}
	c, err := soc.LoadChanged(l.app.SoC, all...)
	return c, cli.Usage(err)
}

// with are the changes of --set and more, which replace those of the same keys.
func (l *lab) with(more []soc.Change) ([]soc.Change, error) {
	all, err := machine.Changes(l.app)
	all = slices.DeleteFunc(all, func(x soc.Change) bool {
		return slices.ContainsFunc(more, func(c soc.Change) bool { return c.Key == x.Key })
	})
	return append(all, more...), err
}

// trial is a network run on a device of a machine.
type trial struct {
	status      string
	mismatches  int
	difference  string // the first
	compilation *nnrt.Compilation
	result      *nnrt.Result // of the last invocation; nil: the device supports nothing of the network
	invocations *session.Invocations
}

// run runs a network on a separate machine.
func (l *lab) run(c *soc.Config, model, device string) (*trial, error) {
	form, err := l.form(model)
	if err != nil {
		return nil, err
	}
	return l.runForm(c, form, device, runOptions{pace: l.pace})
}

// runOptions is the options of a run beside network, device and machine.
type runOptions struct {
	pace       measure.Pace
	candidates map[int]string // kernels to use, by operation
}

// runForm runs a form of a network. A panic is an error of that run.
func (l *lab) runForm(c *soc.Config, form *input.Form, device string, h runOptions) (t *trial, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &cli.ExitError{Code: cli.ExitInternal, Err: fmt.Errorf("internal error: %v\n%s", p, debug.Stack())}
		}
	}()
	m, err := machine.OpenConfig(l.app, c, l.pref)
	if err != nil {
		return nil, err
	}
	if _, err := m.Choose([]string{device}); err != nil {
		return nil, err
	}
	r, err := m.Run(form, session.RunOptions{Device: device, Pace: h.pace.Pace, Candidates: h.candidates})
	if err != nil {
		return nil, err
	}
	t = &trial{status: r.Status, compilation: r.Compilation, result: r.Result, invocations: r.Invocations}
	for _, o := range r.Outputs {
		t.mismatches += o.Mismatches
		if t.difference == "" {
			t.difference = o.Difference
		}
	}
	return t, nil
}

// numbers are the columns of a table of results.
func (t *trial) numbers() map[string]float64 {
	if t.result == nil {
		return nil
	}
	x := t.invocations
	n := map[string]float64{
		"latency_us": x.MeanUS, "first_us": x.FirstUS, "min_us": x.MinUS, "max_us": x.MaxUS, "energy_uj": x.Energy,
		"mismatches": float64(t.mismatches), "fallback_operations": float64(len(t.compilation.Fallbacks) + len(t.result.Fallbacks)),
	}
	for name, us := range x.Parts {
		n["part."+name+"_us"] = us
	}
	for name, uj := range x.Energies {
		n["part."+name+"_uj"] = uj
	}
	for name, uj := range x.Components {
		n["component."+name+"_uj"] = uj
	}
	var memory hal.MemoryStats
	for i := range t.result.Devices {
		d := &t.result.Devices[i]
		memory.Add(&d.Memory)
		prefix := ""
		if len(t.result.Devices) > 1 { // cycles of different clocks do not add up
			prefix = d.Device + "."
		}
		n[prefix+"total_cycles"], n[prefix+"clock_mhz"] = float64(d.Cycles), float64(d.ClockHz)/1e6
		for _, s := range d.Stalls {
			n[prefix+"stall."+s.Reason] = float64(s.Cycles)
		}
		for _, c := range d.Counters {
			n["counter."+c.Name] += float64(c.Value)
		}
	}
	if memory.Bursts+memory.CacheHits+memory.CacheMisses > 0 {
		n["memory.read_bytes"], n["memory.write_bytes"] = float64(memory.ReadBytes), float64(memory.WriteBytes)
		n["memory.bursts"], n["memory.row_hits"] = float64(memory.Bursts), float64(memory.RowHits)
		n["memory.wait_ns"] = float64(memory.WaitFs) / 1e6 / float64(max(memory.ReadBursts, 1))
		n["memory.cache_hits"], n["memory.cache_misses"] = float64(memory.CacheHits), float64(memory.CacheMisses)
	}
	return n
}
