package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// newSoC returns the command soc.
func newSoC(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "soc",
		Short: "print presets of SoCs, their files and their keys",
		Long: `soc prints descriptions of machines. To describe your own SoC, start from a preset's
file; --soc loads such a file, --set changes single keys of a preset or a file.`,
		Example: "  nnsoc soc list\n  nnsoc soc show pixel4 > mine.toml\n  nnsoc soc keys --soc mine.toml\n  nnsoc run --set dram.mt_per_s=3733 --set npu.cores=2",
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSoCList(a), newSoCShow(a), newSoCKeys(a), newSoCExplain(a))
	return cmd
}

// presetsReport is the JSON object of soc list.
type presetsReport struct {
	SchemaVersion int           `json:"schema_version"`
	Presets       []presetEntry `json:"presets"`
}

// presetEntry is a preset.
type presetEntry struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func newSoCList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the presets of --soc",
		Example: "  nnsoc soc list --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			r := presetsReport{SchemaVersion: cli.SchemaVersion}
			for _, name := range soc.Presets() {
				c := try.V(soc.Load(name))
				r.Presets = append(r.Presets, presetEntry{name, c.SoC.Description})
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, &r)
			}
			t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			for _, p := range r.Presets {
				fmt.Fprintf(t, "%s\t%s\n", p.Name, p.Description)
			}
			return t.Flush()
		},
	}
}

// presetReport is the JSON object of soc show.
type presetReport struct {
	SchemaVersion int    `json:"schema_version"`
	Name          string `json:"name"`
	Text          string `json:"text"`
}

func newSoCShow(a *cli.App) *cobra.Command {
	var picture bool
	cmd := &cobra.Command{
		Use:   "show PRESET",
		Short: "print the file of a preset",
		Long: `show prints a preset's file, with the source of each number: a file to change and
pass to --soc. With --picture it draws the machine of a preset or a file, with the changes of
--set: the engines with their numbers, and what they share.`,
		Example: "  nnsoc soc show pixel4 > mine.toml\n  nnsoc soc show pixel4 --picture --set npu.array=32x32",
		Args:    cli.ExactlyOne,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(a.Set) > 0 && !picture {
				return cli.Usage(errors.New("--set does nothing with \"nnsoc soc show\" without --picture: a file is printed as it is written; nnsoc run and others take --set"))
			}
			var text []byte
			if picture {
				text = []byte(soc.Picture(try.V(machine.LoadNamed(a, args[0]))))
			} else {
				text = try.V(machine.PresetText(args[0]))
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, presetReport{cli.SchemaVersion, args[0], string(text)})
			}
			_, err := a.Out.Write(text)
			return err
		},
		ValidArgsFunction: machine.CompleteSoC,
	}
	cmd.Flags().BoolVar(&picture, "picture", false, "draw the machine in text instead")
	return cmd
}

// keysReport is the JSON object of soc explain and soc keys.
type keysReport struct {
	SchemaVersion int        `json:"schema_version"`
	SoC           string     `json:"soc"`
	Keys          []keyEntry `json:"keys"`
}

// keyEntry is a number of the SoC.
type keyEntry struct {
	Key     string  `json:"key"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`    // unit of value, "-" for a count or a share
	Meaning string  `json:"meaning"` // what the number stands for
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Assumed bool    `json:"assumed"`
	Source  string  `json:"source"`
}

func newSoCKeys(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "keys",
		Short: "list the numbers of the SoC that --set changes",
		Long: `keys lists every number of the SoC of --soc under its key for --set, with its value,
its allowed interval, and its source.`,
		Example: "  nnsoc soc keys\n  nnsoc soc keys --soc sd888 --json",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			keys, err := soc.Keys(a.SoC)
			if err != nil {
				return cli.Usage(err)
			}
			return printKeys(a, keys)
		},
	}
}

func newSoCExplain(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "explain KEY",
		Short: "say what a number of the SoC means",
		Long: `explain prints what a key of --set stands for: its meaning, unit, value in the SoC of --soc, allowed interval and
source. A key of a section or a list explains all numbers in it. npu.array, npu.clock (of any engine) and dram.bandwidth
stand for several numbers: explain prints which.`,
		Example: "  nnsoc soc explain npu.ublock\n  nnsoc soc explain npu.array\n  nnsoc soc explain dram --soc sd888",
		Args:    cli.ExactlyOne,
		RunE: func(_ *cobra.Command, args []string) error {
			if alias, list, ok, err := soc.Meant(a.SoC, args[0], ""); ok {
				if err != nil {
					return cli.Usage(err)
				}
				return explainAlias(a, &alias, list)
			}
			keys, err := soc.Explain(a.SoC, args[0])
			if errors.Is(err, soc.ErrNoKey) {
				err = fmt.Errorf("%w%s; nnsoc soc keys lists them", err, spelling.DidYouMean(args[0], keyNames(a.SoC)))
			}
			if err != nil {
				return cli.Usage(err)
			}
			if a.JSON {
				return printKeys(a, keys)
			}
			for i, k := range keys {
				m, _ := soc.MeaningOf(k.Path)
				if before, _ := soc.MeaningOf(keys[max(i-1, 0)].Path); i == 0 || before.Text != m.Text {
					fmt.Fprintf(a.Out, "%s\n", m.Text)
				}
				fmt.Fprintf(a.Out, "  %s = %g%s, within %g..%g; source: %s\n", k.Path, k.Value, unitName(m.Unit), k.Lo, k.Hi, k.Comment)
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return keyNames(a.SoC), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// explainAlias says what a key that stands for others means, and the numbers that its example changes.
func explainAlias(a *cli.App, alias *soc.Alias, list []soc.Change) error {
	var keys []soc.Key
	all := try.V(soc.Keys(a.SoC))
	for _, x := range list {
		for i := range all {
			if all[i].Path == x.Key {
				keys = append(keys, all[i])
			}
		}
	}
	if a.JSON {
		return printKeys(a, keys)
	}
	fmt.Fprintf(a.Out, "%s\n%s=%s writes\n", alias.Meaning, alias.Key, alias.Example)
	for _, x := range list {
		fmt.Fprintf(a.Out, "  %s\n", x)
	}
	if alias.Key != "npu.array" {
		return nil
	}
	c := try.V(soc.LoadChanged(a.SoC, list...))
	u := c.NPU.Ublock
	return explainShapes(a, u[0]*u[1]*u[2]*c.NPU.IFMDepth)
}

// explainShapes compares ways to write the same multiply-accumulates per cycle: how much of each an operation fills.
func explainShapes(a *cli.App, macs int) error {
	shapes := soc.Shapes(macs)
	if shapes == nil {
		return nil
	}
	fmt.Fprintf(a.Out, "\n%d multiply-accumulates in four ways: the share of whole blocks that an operation fills (nnsoc run --set has its time)\n", macs)
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "npu.ublock, npu.ifm_depth")
	for _, l := range soc.Layers {
		fmt.Fprintf(t, "\t%s", l.Name)
	}
	fmt.Fprintln(t)
	for _, s := range shapes {
		fmt.Fprintf(t, "%dx%dx%d, %d", s.Ublock[0], s.Ublock[1], s.Ublock[2], s.IFMDepth)
		for i := range soc.Layers {
			fmt.Fprintf(t, "\t%.0f %%", 100*s.Use(&soc.Layers[i]))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// unitName is a unit behind its number.
func unitName(unit string) string {
	if unit == "-" {
		return ""
	}
	return " " + unit
}

// keyNames lists the keys of a SoC, none when it cannot be read.
func keyNames(name string) (names []string) {
	keys, err := soc.Keys(name)
	if err != nil {
		return nil
	}
	for i := range keys {
		names = append(names, keys[i].Path)
	}
	for _, x := range soc.Aliases() {
		names = append(names, x.Key)
	}
	return names
}

// printKeys prints numbers of the SoC as a table or as JSON.
func printKeys(a *cli.App, keys []soc.Key) error {
	r := keysReport{SchemaVersion: cli.SchemaVersion, SoC: a.SoC}
	for i := range keys {
		k := &keys[i]
		m, _ := soc.MeaningOf(k.Path)
		r.Keys = append(r.Keys, keyEntry{k.Path, k.Value, m.Unit, m.Text, k.Lo, k.Hi, k.Assumed(), k.Comment})
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, &r)
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "key\tvalue\tunit\tinterval\tmeaning\tsource")
	for _, k := range r.Keys {
		fmt.Fprintf(t, "%s\t%g\t%s\t%g..%g\t%s\t%s\n", k.Key, k.Value, k.Unit, k.Low, k.High, k.Meaning, k.Source)
	}
	return t.Flush()
}
