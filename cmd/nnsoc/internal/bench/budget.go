package bench

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/engine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nnrt"
)

// budgetReport is the JSON object of bench budget.
type budgetReport struct {
	SchemaVersion int         `json:"schema_version"`
	SoC           string      `json:"soc"`
	Rows          []budgetRow `json:"rows"`
}

// budgetRow is one line of the speed budget. Rates are better above the
// budget, times below it.
type budgetRow struct {
	Work     string  `json:"work"`
	Unit     string  `json:"unit"`
	Budget   float64 `json:"budget"`
	Measured float64 `json:"measured"` // the median
	Low      float64 `json:"p10"`
	High     float64 `json:"p90"`
	Met      bool    `json:"met"`
}

// budgetLine is what to measure: a model on a device, as a time or as a rate, or
// the rate of a program's stores.
type budgetLine struct {
	work   string
	device string
	model  func() (*nn.Model, error)
	unit   string
	budget float64
	rate   func(m *nn.Model, r *nnrt.Result) float64 // nil: user CPU in ms

	program *storeProgram // instead of a model
}

func mobilenet(quantized bool) func() (*nn.Model, error) {
	return func() (*nn.Model, error) { return input.EmbeddedNetwork(quantized), nil }
}

func gemm(typ string, size int) func() (*nn.Model, error) {
	return func() (*nn.Model, error) { return bench.Gemm(typ, size) }
}

func gigaMACs(m *nn.Model, _ *nnrt.Result) float64 { return float64(nnrt.MACs(m)) / 1e9 }

func megaLanes(_ *nn.Model, r *nnrt.Result) float64 { return laneInstructions(r) / 1e6 }

// budget is the speed budget of the project, user CPU on one core.
var budget = []budgetLine{
	{"DSP, u8 GEMM 512^3", "dsp", gemm("u8", 512), "GMAC/s", 9, gigaMACs, nil},
	{"GPU, f32 GEMM 256^3", "gpu", gemm("f32", 256), "M lane-instructions/s", 500, megaLanes, nil},
	{"NPU, i8 GEMM 512^3", "npu", gemm("i8", 512), "GMAC/s", 1, gigaMACs, nil},
	{"NPU, MobileNet v1 quant", "npu", mobilenet(true), "ms", 50, nil, nil},
	{"DSP, MobileNet v1 quant", "dsp", mobilenet(true), "ms", 200, nil, nil},
	{"GPU, MobileNet v1 float", "gpu", mobilenet(false), "ms", 2000, nil, nil},
	{"reference, MobileNet v1 quant", "cpu", mobilenet(true), "ms", 60, nil, nil},
	{"reference, MobileNet v1 float", "cpu", mobilenet(false), "ms", 60, nil, nil},
	// Programs for dsp exec. The budget is 20 times the rate of qemu-hexagon 7.2 for
	// the same stores on the machine where the others were set (D-276).
	{"DSP, vectors stored in L2", "dsp", nil, "M stores/s", 14, nil, &storeProgram{"{ vmem(r0++#1) = v0 ; nop }", 64}},
	{"DSP, vectors copied in L2, unaligned", "dsp", nil, "M stores/s", 15, nil, &storeProgram{"{ v0 = vmemu(r1++#1) }\n{ vmemu(r0++#1) = v0 ; nop }", 64}},
	{"DSP, vectors stored beyond L2", "dsp", nil, "M stores/s", 13, nil, &storeProgram{"{ vmem(r0++#1) = v0 ; nop }", 8192}},
	{"DSP, vectors copied beyond L2", "dsp", nil, "M stores/s", 13, nil, &storeProgram{"{ v0 = vmem(r1++#1) ; vmem(r0++#1) = v0.new }", 8192}},
}

func newBenchBudget(a *cli.App) *cobra.Command {
	var repeat int
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "measure the simulator against its speed budget",
		Long: `budget executes each line of the speed budget --repeat times after a first run that is
not counted and reports median and percentiles of the user CPU it took. It never fails for being
slow: machines differ.`,
		Example: "  nnsoc bench budget --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if repeat < 1 || repeat > 100 {
				return cli.Usage(fmt.Errorf("--repeat %d is not in 1..100", repeat))
			}
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			r := budgetReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Rows: []budgetRow{}}
			p := a.Progress()
			defer p.Done()
			for i := range budget {
				if _, err := m.Registry.Find(budget[i].device); err != nil {
					continue // a SoC without the device
				}
				p.Part(i, len(budget))
				p.Say("%s", budget[i].work)
				row, err := budget[i].measure(a, m, repeat)
				if err != nil {
					return err
				}
				r.Rows = append(r.Rows, row)
			}
			p.Done()
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "work\tbudget\tmedian\tp10\tp90\tunit\tmet")
			for _, row := range r.Rows {
				fmt.Fprintf(t, "%s\t%.0f\t%.1f\t%.1f\t%.1f\t%s\t%v\n", row.Work, row.Budget, row.Measured, row.Low, row.High, row.Unit, row.Met)
			}
			return t.Flush()
		},
	}
	cmd.Flags().IntVar(&repeat, "repeat", 5, "executions per line")
	return cmd
}

func (b *budgetLine) measure(a *cli.App, m *machine.Machine, repeat int) (budgetRow, error) {
	row := budgetRow{Work: b.work, Unit: b.unit, Budget: b.budget}
	prepare := b.prepare
	if b.program != nil {
		prepare = b.prepareProgram
	}
	run, err := prepare(a, m)
	if err != nil {
		return row, err
	}
	var values []float64
	for i := range repeat + 1 {
		start := cputime.User()
		work, err := run()
		if err != nil {
			return row, err
		}
		spent := max(cputime.User()-start, time.Microsecond)
		switch {
		case i == 0:
		case b.isTime():
			values = append(values, float64(spent)/1e6)
		default:
			values = append(values, work/spent.Seconds())
		}
	}
	row.measured(values)
	row.Met = row.Measured >= b.budget
	if b.isTime() {
		row.Met = row.Measured <= b.budget
	}
	return row, nil
}

// measured takes the median of values and, as their spread, the 10th and 90th
// percentiles.
func (r *budgetRow) measured(values []float64) {
	slices.Sort(values)
	r.Measured = stat.Quantile(0.5, stat.Empirical, values, nil)
	r.Low = stat.Quantile(0.1, stat.Empirical, values, nil)
	r.High = stat.Quantile(0.9, stat.Empirical, values, nil)
}

func (b *budgetLine) isTime() bool { return b.rate == nil && b.program == nil }

// prepare answers what executes the model once and says how much work that was.
func (b *budgetLine) prepare(_ *cli.App, m *machine.Machine) (func() (float64, error), error) {
	model, err := b.model()
	if err != nil {
		return nil, err
	}
	c, err := nnrt.Compile(m.Registry, model, b.device, nnrt.CompileOptions{})
	if err != nil {
		return nil, err
	}
	in := [][]byte{tensor.Synthetic(&model.Main.Operands[model.Main.Inputs[0]], 1)}
	return func() (float64, error) {
		res, err := c.Execute(in, nnrt.ExecuteOptions{})
		if err != nil || b.rate == nil {
			return 0, err
		}
		return b.rate(model, res), nil
	}, nil
}

// prepareProgram is prepare for a program.
func (b *budgetLine) prepareProgram(a *cli.App, _ *machine.Machine) (func() (float64, error), error) {
	core, err := engine.OpenDSP(a)
	if err != nil {
		return nil, err
	}
	image, err := b.program.image()
	if err != nil {
		return nil, err
	}
	return func() (float64, error) { return b.program.run(core, image) }, nil
}
