package bench

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/cliffs"
	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// cliffsReport is the JSON object of bench cliffs.
type cliffsReport struct {
	SchemaVersion int          `json:"schema_version"`
	SoC           string       `json:"soc"`
	Measured      int          `json:"operations_measured"` // by all devices, those that they support
	Unexplained   int          `json:"unexplained"`         // cliffs without a reason
	Cliffs        []cliffEntry `json:"cliffs"`              // in the order of devices and families, or networks

	printed int // of the cliffs, as lines
}

// cliffEntry is a place where a device is slower than the work explains.
type cliffEntry struct {
	Device    string            `json:"device"`
	Type      string            `json:"type"`
	Family    string            `json:"family"`               // operations that differ in their parameters alone; of networks a type
	Network   string            `json:"network,omitempty"`    // network of the zoo that has the operation
	Operation *int              `json:"index,omitempty"`      // index of the operation in its network
	Kind      string            `json:"kind"`                 // "step" or "slow"
	Parameter string            `json:"parameter"`            // along which the family was walked
	At        map[string]uint32 `json:"at"`                   // all parameters of the operation
	FromValue uint32            `json:"from_value,omitempty"` // the parameter before a step
	FromUS    float64           `json:"from_us,omitempty"`    // time of the operation before a step
	TimeUS    float64           `json:"time_us"`
	RoofUS    float64           `json:"roof_us,omitempty"` // the least that the engine and the memory need
	Ratio     float64           `json:"ratio"`             // of the times by the growth of the work, or of the time to the roof
	Reason    string            `json:"reason,omitempty"`  // why it stays, where that is known
}

// cliffFlags are what bench cliffs measures; none are all.
type cliffFlags struct{ devices, types, families, networks []string }

func newBenchCliffs(a *cli.App) *cobra.Command {
	var f cliffFlags
	cmd := &cobra.Command{
		Use:   "cliffs",
		Short: "look for operations that are suddenly slow",
		Long: fmt.Sprintf(`cliffs runs families of operations along their parameters (channels, planes, windows, batch,
units) at powers of two and their neighbours, each alone at the highest clocks and on cold memories, and
lists each step in time of more than %.1f beyond the growth of the work (multiply-accumulates or bytes of
the operands, whichever grow more), and each operation that takes more than %d times its roof beyond the
time of an operation on one element. --zoo does the latter with each operation of networks of the
zoo. What is known to be slow has its reason. All families on all devices take some minutes, all
networks far longer; --family, --zoo and --device select some.`, cliffs.MaxStep, cliffs.MaxRoof),
		Example: "  nnsoc bench cliffs --device gpu --family AVERAGE_POOL_2D\n  nnsoc bench cliffs --device dsp --type u8 --json\n  nnsoc bench cliffs --zoo mobilenet_v3_small_float --device gpu",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return benchCliffs(a, &f)
		},
	}
	cli.PrintsLines(cmd, "cliffs[]")
	fl := cmd.Flags()
	fl.StringSliceVar(&f.devices, "device", nil, "devices to measure; default all")
	fl.StringSliceVar(&f.types, "type", nil, "types of the elements: u8, f32; default both")
	fl.StringSliceVar(&f.families, "family", nil, "families by their whole name, such as 'CONV_2D 3x3'; default all")
	fl.StringSliceVar(&f.networks, "zoo", nil, "networks whose operations to measure instead of families, or all")
	_ = cmd.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(familyNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("zoo", cobra.FixedCompletions(append(zoo.Names(), "all"), cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("family", "zoo")
	machine.CompleteDevices(a, cmd)
	return cmd
}

// chosen checks names against the known ones; none means all.
func chosen(what string, names, known []string) ([]string, error) {
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, cli.Usage(fmt.Errorf("no %s %q; there are %q", what, n, known))
		}
	}
	if len(names) == 0 {
		return known, nil
	}
	return names, nil
}

// familyNames returns the names of all families.
func familyNames() (names []string) {
	for _, f := range cliffs.Families() {
		names = append(names, f.Name)
	}
	return names
}

func benchCliffs(a *cli.App, f *cliffFlags) (err error) {
	defer try.Catch(&err)
	var formats []string
	for _, f := range cliffs.Formats() {
		formats = append(formats, string(f))
	}
	families, types := try.V(chosen("family", f.families, familyNames())), try.V(chosen("type", f.types, formats))
	networks := f.networks
	if slices.Equal(networks, []string{"all"}) {
		networks = zoo.Names()
	}
	try.V(chosen("network", networks, zoo.Names()))
	m := try.V(machine.Open(a, hal.FastSingleAnswer))
	devices := try.V(m.Choose(f.devices))
	r := cliffsReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Cliffs: []cliffEntry{}}
	lines := a.Lines()
	bytes, floats := session.Roofs(m.Config, true), session.Roofs(m.Config, false)
	p := a.Progress()
	defer p.Done()
	for _, name := range devices {
		w := &cliffs.Walker{Device: try.V(m.Registry.Find(name)), Store: cost.NewStore("", m.Config.SoC.Name), Progress: p.Update,
			Roof: map[cliffs.Format]report.Roof{cliffs.Quant8: bytes[name], cliffs.Float32: floats[name]}}
		for _, n := range networks {
			try.E(r.network(w, n, types))
			try.E(r.lines(lines))
		}
		for _, f := range cliffs.Families() {
			if slices.Contains(families, f.Name) && len(networks) == 0 {
				try.E(r.walk(w, &f, types))
				try.E(r.lines(lines))
			}
		}
	}
	p.Done()
	if a.JSON {
		return a.PrintObject(&r)
	}
	return r.print(a)
}

// lines prints the cliffs that were found since the last call.
func (r *cliffsReport) lines(l *cli.Lines) error {
	for ; r.printed < len(r.Cliffs); r.printed++ {
		if err := l.Append(&r.Cliffs[r.printed]); err != nil {
			return err
		}
	}
	return nil
}

// network adds the operations of a network of the zoo far from their roofs, where its type is one of those chosen.
func (r *cliffsReport) network(w *cliffs.Walker, name string, types []string) error {
	n, _ := zoo.Find(name)
	format := cliffs.Float32
	if strings.HasPrefix(n.Type(), "TENSOR_QUANT8") {
		format = cliffs.Quant8
	}
	if !slices.Contains(types, string(format)) {
		return nil
	}
	m, err := n.Build()
	if err != nil {
		return err
	}
	list, samples, err := w.Network(m, format)
	r.add(list, samples)
	return err
}

// add adds cliffs.
func (r *cliffsReport) add(list []cliffs.Cliff, samples int) {
	r.Measured += samples
	for i := range list {
		c := &list[i]
		e := cliffEntry{Device: c.Device, Type: string(c.Format), Family: c.Family, Network: c.Network, Kind: string(c.Kind), Parameter: c.Parameter, At: c.At.Point,
			FromValue: c.From.Point[c.Parameter], FromUS: c.From.TimeUS, TimeUS: c.At.TimeUS, RoofUS: c.At.RoofUS, Ratio: c.Ratio, Reason: c.Why()}
		if c.Network != "" {
			e.Operation, e.At = &c.Operation, map[string]uint32{}
		}
		if e.Reason == "" {
			r.Unexplained++
		}
		r.Cliffs = append(r.Cliffs, e)
	}
}

// walk adds the cliffs of a family in some types.
func (r *cliffsReport) walk(w *cliffs.Walker, f *cliffs.Family, types []string) error {
	for _, typ := range types {
		list, n, err := w.Walk(f, cliffs.Format(typ))
		if err != nil {
			return err
		}
		r.add(list, n)
	}
	return nil
}

func (r *cliffsReport) print(a *cli.App) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d operations measured on %s, %d cliffs, %d of them without a reason\n", r.Measured, r.SoC, len(r.Cliffs), r.Unexplained)
	if len(r.Cliffs) > 0 {
		fmt.Fprintln(t, "device\ttype\tkind\tratio\tfamily\tat\ttime us\troof us\tstep\treason")
	}
	var why []string
	for _, c := range r.Cliffs {
		step, at := "", cliffs.Point(c.At).String()
		if c.FromValue != 0 {
			step = fmt.Sprintf("%s=%d: %.1f us", c.Parameter, c.FromValue, c.FromUS)
		}
		if c.Operation != nil {
			at = fmt.Sprintf("%s, operation %d", c.Network, *c.Operation)
		}
		number := "-"
		if c.Reason != "" {
			if !slices.Contains(why, c.Reason) {
				why = append(why, c.Reason)
			}
			number = fmt.Sprint(1 + slices.Index(why, c.Reason))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%s\t%s\t%.1f\t%.1f\t%s\t%s\n", c.Device, c.Type, c.Kind, c.Ratio, c.Family, at, c.TimeUS, c.RoofUS, step, number)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, text := range why {
		fmt.Fprintln(a.Out, cli.Wrap(fmt.Sprintf("reason %d: %s", i+1, text)))
	}
	return nil
}
