package workbench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/sweep"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// sweepSchemaVersion counts incompatible changes of the tables and of the lines they are
// made of.
const sweepSchemaVersion = 3

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	vary, models, devices []string
	sample                int
	seed                  uint64
	points, shard, out    string
	preference            string
	workers               int
	pace                  measure.Pace
}

// NewSweep returns the command sweep.
func NewSweep(a *cli.App) *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "run networks on many variants of a SoC",
		Long: `sweep changes keys of the SoC file and runs each network on each device of every
variant: all combinations of the values of --vary, or --sample N points of a Latin
hypercube of them, or the rows of a CSV file (--points) with a column per key. A key is
named as in errors about SoC files: dram.mt_per_s, cpu.cluster[0].l2.kib, npu.ublock (whose
three numbers are joined by x: 4x4x64). Values are separated by commas; LO..HI/N are N of
them at equal distances, LO..HI is an interval for --sample. Keys joined by + have the same
value. Keys that refer to a changed value follow it: preferences their operating point,
clocks of the memory dram.mt_per_s.

Every variant is checked before the first run. Results go to --output: results.csv and
results.parquet, a row per point with SoC hash, build, keys, latency, energy, their parts,
stalls and counters. An interrupted run resumes when it is given the
same folder; --shard I/N works on one of N parts, which may share the folder (docs/Cluster.md).
A point that fails is a row with its error.`,
		Example: `  nnsoc sweep --vary npu.ublock=2x4x64,4x4x64 --vary dram.mt_per_s=3733,4266 --models mobilenet_v1_0.25_128_quant --device npu,dsp -o sweep
  nnsoc sweep --sample 100 --seed 1 --vary dram.mt_per_s=1600..6400 --vary npu.memory[0].kib=1024..8192 --models mobilenet_v1_0.25_128_quant --device npu -o samples
  nnsoc sweep --points points.csv --models mobilenet_v1_0.25_128_quant --device npu -o points --shard 1/2`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"sample", "seed"} {
				if cmd.Flags().Changed("points") && cmd.Flags().Changed(name) {
					return cli.Usage(fmt.Errorf("--%s does nothing with --points", name))
				}
			}
			if cmd.Flags().Changed("seed") && !cmd.Flags().Changed("sample") {
				return cli.Usage(errors.New("--seed does nothing without --sample"))
			}
			return runSweep(a, f, cmd.Flags().Changed("sample"))
		},
	}
	cli.PrintsLines(cmd, "fastest")
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vary, "vary", nil, "KEY=VALUE,VALUE... or KEY=LO..HI/N; several make all combinations")
	fl.Var(cli.NameList{Names: &f.models, Once: true}, "models", "networks: files, or names of \"nnsoc models\"")
	fl.Var(cli.NameList{Names: &f.devices, Once: true}, "device", "devices of the SoC, auto: a plan by prediction, or aosp: divided by Android's rule (default: all)")
	fl.IntVar(&f.sample, "sample", 0, "run N points of a Latin hypercube in place of all combinations")
	fl.Uint64Var(&f.seed, "seed", 1, "of --sample: the same seed draws the same points")
	fl.StringVar(&f.points, "points", "", "run the points of this CSV file: columns model, device and keys")
	fl.StringVar(&f.shard, "shard", "", "run part I of N, as I/N")
	fl.StringVarP(&f.out, "output", "o", "", "folder of the results")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "points that run at the same time")
	f.pace.Add(fl)
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd, machine.Plans...)
	_ = cmd.RegisterFlagCompletionFunc("vary", machine.CompleteSet(a))
	cli.OldNames(fl, map[string]string{"devices": "device", "out": "output"})
	return cmd
}

// sweepReport is the JSON object of sweep.
type sweepReport struct {
	SchemaVersion int            `json:"schema_version"`
	SoC           string         `json:"soc"`
	Points        int            `json:"point_count"`   // of the sweep
	Shard         int            `json:"shard_points"`  // of them in this shard
	Before        int            `json:"done_before"`   // of the shard, done before
	Done          int            `json:"done"`          // of the sweep, by all shards so far
	Status        map[string]int `json:"status_counts"` // rows by status
	Fastest       *sweep.Row     `json:"fastest"`       // of the rows that are ok
	Thriftiest    *sweep.Row     `json:"lowest_energy"`
	CSV           string         `json:"csv"`
	Parquet       string         `json:"parquet"`
}

func runSweep(a *cli.App, f *sweepFlags, sampled bool) (err error) {
	defer try.Catch(&err)
	if f.out == "" {
		return cli.Usage(errors.New("no folder for the results: give --output"))
	}
	l := try.V(newLab(a, f.preference, f.pace))
	if f.workers < 1 || f.workers > 1024 {
		return cli.Usage(fmt.Errorf("--workers %d, want 1 to 1024", f.workers))
	}
	var shard sweep.Shard
	if f.shard != "" {
		if shard, err = sweep.ParseShard(f.shard); err != nil {
			return cli.Usage(err)
		}
	}
	plan, err := f.plan(a, sampled)
	if err != nil {
		return cli.Usage(err)
	}
	p := a.Progress()
	defer p.Done()
	hashes, err := check(l, plan, p)
	if err != nil {
		return cli.Usage(err)
	}
	store, err := sweep.Open(f.out, describe(a, f, plan, hashes), shard)
	if err != nil {
		return cli.Usage(err)
	}
	defer store.Close()
	report := &sweepReport{
		SchemaVersion: sweepSchemaVersion, SoC: a.SoC + machine.Changed(a), Points: len(plan.Points), Status: map[string]int{},
		CSV: filepath.Join(f.out, sweep.CSVFile), Parquet: filepath.Join(f.out, sweep.ParquetFile),
	}
	var todo []*sweep.Point
	for i := range plan.Points {
		x := &plan.Points[i]
		if !shard.Has(x) {
			continue
		}
		if report.Shard++; store.Done(x.Index) {
			report.Before++
		} else {
			todo = append(todo, x)
		}
	}
	lines := a.Lines()
	try.E(l.sweep(todo, f.workers, hashes, func(i int, row *sweep.Row) error { return errors.Join(store.Add(row), lines.Add(i, row)) }, p))
	rows := try.V(store.Collect(plan.Keys))
	p.Done()
	report.add(rows)
	if a.JSON {
		err = a.PrintObject(report)
	} else {
		err = report.print(a, plan.Keys)
	}
	if err != nil {
		return err
	}
	if n := report.Status[session.StatusMismatch] + report.Status[sweep.StatusError]; n > 0 {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d points failed or differ from the reference: see %s", n, len(rows), report.CSV)}
	}
	return nil
}

// maxPoints bounds the bytes of a table of points (assumed, D-1120).
const maxPoints = 64 << 20

// plan reads the points.
func (f *sweepFlags) plan(a *cli.App, sampled bool) (_ *sweep.Plan, err error) {
	defer try.Catch(&err)
	if f.points != "" {
		if len(f.vary) > 0 {
			return nil, errors.New("--vary does nothing with --points")
		}
		data := try.V(cli.ReadFile(f.points, maxPoints))
		return sweep.Read(f.points, bytes.NewReader(data), f.models, f.devices)
	}
	if len(f.models) == 0 {
		return nil, errors.New("no network: give --models")
	}
	if len(f.devices) == 0 {
		m := try.V(machine.Open(a, 0))
		f.devices = try.V(m.Choose(nil))
	}
	list := try.V(soc.Keys(a.SoC))
	whole := map[string]bool{}
	for i := range list {
		whole[list[i].Path] = list[i].Integer
	}
	var axes []*sweep.Axis
	for _, s := range f.vary {
		x, err := sweep.ParseAxis(s, func(key string) bool { return whole[key] })
		if err != nil {
			return nil, fmt.Errorf("--vary: %w", err)
		}
		axes = append(axes, x)
	}
	if sampled {
		return sweep.Sample(f.models, f.devices, axes, f.sample, f.seed)
	}
	return sweep.Product(f.models, f.devices, axes)
}

// variant is the text of a point's changes.
func variant(p *sweep.Point) string { return fmt.Sprint(p.Changes) }

// check opens every variant of the SoC, looks for the devices and reads the networks, and
// returns the hash of each variant.
func check(l *lab, plan *sweep.Plan, p *cli.Progress) (map[string]string, error) {
	hashes := map[string]string{}
	for i := range plan.Points {
		x := &plan.Points[i]
		if i%1000 == 999 {
			p.Update("check %d of %d", i+1, len(plan.Points))
		}
		if _, err := l.form(x.Model); err != nil {
			return nil, err
		}
		v := variant(x)
		if hashes[v+x.Device] != "" {
			continue
		}
		c, err := l.load(x.Changes...)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", x, err)
		}
		if m, err := machine.OpenConfig(l.app, c, l.pref); err != nil {
			return nil, fmt.Errorf("%v: %w", x, err)
		} else if _, err := m.Choose([]string{x.Device}); err != nil {
			return nil, err
		}
		hashes[v] = machine.Hash(c)
		hashes[v+x.Device] = hashes[v]
	}
	return hashes, nil
}

func describe(a *cli.App, f *sweepFlags, plan *sweep.Plan, hashes map[string]string) *sweep.Description {
	points, run := sha256.New(), sha256.New()
	for i := range plan.Points {
		p := &plan.Points[i]
		fmt.Fprintf(points, "%v %s\n", p, hashes[variant(p)])
	}
	fmt.Fprint(run, f.preference, f.pace)
	return &sweep.Description{
		SchemaVersion: sweepSchemaVersion, SoC: a.SoC + machine.Changed(a), Keys: plan.Keys, Count: len(plan.Points), Build: machine.Build(),
		PointsHash: hex.EncodeToString(points.Sum(nil)[:8]), RunHash: hex.EncodeToString(run.Sum(nil)[:8]),
	}
}

// sweep runs points on several goroutines and passes their rows on.
func (l *lab) sweep(todo []*sweep.Point, workers int, hashes map[string]string, add func(i int, row *sweep.Row) error, p *cli.Progress) error {
	var next, done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	var mu sync.Mutex // of the progress
	start, said := time.Now(), time.Time{}
	build := machine.Build()
	for range min(workers, len(todo)) {
		all.Go(func() {
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(todo) {
					return
				}
				row := l.row(todo[i], hashes[variant(todo[i])], build)
				if err := add(i, row); err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
				n := done.Add(1)
				mu.Lock()
				if now := time.Now(); now.Sub(said) >= time.Second {
					said = now
					left := now.Sub(start) * time.Duration(int64(len(todo))-n) / time.Duration(n)
					p.Update("%d of %d points, %v left", n, len(todo), left.Round(time.Second))
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// row runs a point.
func (l *lab) row(p *sweep.Point, hash, build string) *sweep.Row {
	r := &sweep.Row{Index: p.Index, Model: p.Model, Device: p.Device, SoC: l.app.SoC + machine.Changed(l.app), SoCHash: hash, Build: build, Keys: map[string]string{}}
	for _, c := range p.Changes {
		r.Keys[c.Key] = c.Value
	}
	c, err := l.load(p.Changes...)
	var t *trial
	if err == nil {
		t, err = l.run(c, p.Model, p.Device)
	}
	if err != nil {
		r.Status, r.Error = sweep.StatusError, err.Error()
		return r
	}
	r.Status, r.Error, r.Numbers = t.status, t.difference, t.numbers()
	for k, v := range r.Numbers { // which JSON lacks
		if math.IsNaN(v) || math.IsInf(v, 0) {
			delete(r.Numbers, k)
		}
	}
	return r
}

// add counts the rows and finds the best.
func (s *sweepReport) add(rows []sweep.Row) {
	s.Done = len(rows)
	for i := range rows {
		r := &rows[i]
		s.Status[r.Status]++
		if r.Status != sweep.StatusOK {
			continue
		}
		if s.Fastest == nil || r.Numbers["latency_us"] < s.Fastest.Numbers["latency_us"] {
			s.Fastest = r
		}
		if s.Thriftiest == nil || r.Numbers["energy_uj"] < s.Thriftiest.Numbers["energy_uj"] {
			s.Thriftiest = r
		}
	}
}

func (s *sweepReport) print(a *cli.App, keys []string) error {
	fmt.Fprintf(a.Out, "%s: %d of %d points", s.SoC, s.Done, s.Points)
	if s.Before > 0 {
		fmt.Fprintf(a.Out, " (%d were there)", s.Before)
	}
	for _, status := range []string{session.StatusOK, session.StatusMismatch, session.StatusUnsupported, sweep.StatusError} {
		if n := s.Status[status]; n > 0 {
			fmt.Fprintf(a.Out, ", %d %s", n, status)
		}
	}
	fmt.Fprintln(a.Out)
	for _, x := range []struct {
		what string
		row  *sweep.Row
	}{{"fastest", s.Fastest}, {"least energy", s.Thriftiest}} {
		if x.row == nil {
			continue
		}
		fmt.Fprintf(a.Out, "%s: %.1f us, %.1f uJ, %s on %s", x.what, x.row.Numbers["latency_us"], x.row.Numbers["energy_uj"], x.row.Model, x.row.Device)
		for _, k := range keys {
			if v, ok := x.row.Keys[k]; ok {
				fmt.Fprintf(a.Out, ", %s=%s", k, v)
			}
		}
		fmt.Fprintln(a.Out)
	}
	_, err := fmt.Fprintf(a.Out, "%s\n%s\n", s.CSV, s.Parquet)
	return err
}
