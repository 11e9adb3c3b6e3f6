package bench

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// velaReport is the JSON object of bench vela.
type velaReport struct {
	SchemaVersion int       `json:"schema_version"`
	Rows          []velaRow `json:"rows"`
	Within        int       `json:"no_slower"` // rows with no more cycles than Vela's stream
	Mean          float64   `json:"geometric_mean"`
	Worst         float64   `json:"worst"`
}

// velaRow is one file of Vela's.
type velaRow struct {
	File        string         `json:"file"`
	Network     string         `json:"model"`
	Accelerator string         `json:"accelerator"`
	Vela        offline.Stream `json:"vela"`
	Own         offline.Stream `json:"nnsoc"`
	Ratio       float64        `json:"ratio"` // of cycles
	Elements    int            `json:"elements"`
	Different   int            `json:"different"` // elements of the outputs; of none where networks are alike only
}

func newBenchVela(a *cli.App) *cobra.Command {
	var models string
	var alike map[string]string
	cmd := &cobra.Command{
		Use:   "vela PATH...",
		Short: "compare the driver's command streams with those of Arm's Vela",
		Long: `vela reads files that Arm's Vela compiled, or folders of them (*_vela.tflite), compiles the
networks they were made from for the same accelerators, and runs both on the SoC named like the
accelerator: active cycles of the NPU, constants, working memory on chip and the beats of both
ports, Vela's first. Outputs are compared, too: they may differ where Vela's arithmetic for an
operation is not NNAPI's.

--models is the folder with the networks: NETWORK/model.tflite or NETWORK.tflite, where NETWORK is
the name of the file before _vela.tflite or that of a folder it is in. Where that network is
not available, --alike NETWORK=OTHER uses one of the same operations and shapes; its weights
differ, so that outputs are not compared, and the bytes of constants are not comparable.`,
		Example:           "  nnsoc bench vela compiled --models networks\n  nnsoc bench vela compiled --models networks --alike mobilenet_v2_int8=mobilenet_v2_quant\n  nnsoc bench vela compiled/kws/ethos-u55-128/kws_vela.tflite --models networks --json",
		Args:              cli.AtLeastOne,
		RunE:              func(_ *cobra.Command, args []string) error { return benchVela(a, args, models, alike) },
		ValidArgsFunction: cli.CompleteFiles("tflite"),
	}
	cmd.Flags().StringVar(&models, "models", ".", "folder of the networks that were compiled")
	cmd.Flags().StringToStringVar(&alike, "alike", nil, "use OTHER in place of NETWORK: NETWORK=OTHER, ...")
	_ = cmd.MarkFlagDirname("models")
	return cmd
}

func benchVela(a *cli.App, paths []string, models string, alike map[string]string) error {
	files, err := velaFiles(paths)
	if err != nil {
		return cli.Usage(err)
	}
	r := velaReport{SchemaVersion: cli.SchemaVersion, Rows: []velaRow{}}
	p := a.Progress()
	defer p.Done()
	sum := 0.0
	for i, path := range files {
		p.Update("%s (%d of %d)", path, i+1, len(files))
		row, err := compareVela(a, path, models, alike)
		if err != nil {
			return cli.Usage(fmt.Errorf("%s: %w", path, err))
		}
		r.Rows = append(r.Rows, *row)
		sum += math.Log(row.Ratio)
		r.Worst = max(r.Worst, row.Ratio)
		if row.Ratio <= 1 {
			r.Within++
		}
	}
	p.Done()
	r.Mean = math.Exp(sum / float64(len(r.Rows)))
	if a.JSON {
		return cli.PrintJSON(a.Out, &r)
	}
	return printVela(a, &r)
}

// velaFiles are the files of paths, and those below folders.
func velaFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		before := len(files)
		err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(p, velaSuffix) {
				files = append(files, p)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: no file *%s", path, velaSuffix)
		}
	}
	return files, nil
}

// velaSuffix is how the files of Vela end.
const velaSuffix = "_vela.tflite"

func compareVela(a *cli.App, path, models string, alike map[string]string) (_ *velaRow, err error) {
	defer try.Catch(&err)
	file := try.V(input.ReadModelFile(path))
	name, network := try.V2(originOf(path, models, alike))
	data := try.V(input.ReadModelFile(network))
	m, err := tflite.Import(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", network, err)
	}
	compare := offline.Compare
	for _, other := range alike {
		if other == name {
			compare = offline.CompareStructure
		}
	}
	c := try.V(compare(file, m, func(name string) (*soc.Config, error) { return machine.LoadNamed(a, name) }))
	return &velaRow{File: path, Network: name, Accelerator: c.Accelerator.String(), Vela: c.Vela, Own: c.Own, Ratio: c.Ratio(), Elements: c.Elements, Different: c.Different}, nil
}

// originOf finds the network that a file of Vela's was made from.
func originOf(path, models string, alike map[string]string) (name, network string, err error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", "", err
	}
	folder := filepath.Dir(absolute)
	names := []string{strings.TrimSuffix(filepath.Base(path), velaSuffix), filepath.Base(folder), filepath.Base(filepath.Dir(folder))}
	for _, n := range names {
		if other, ok := alike[n]; ok {
			n = other
		}
		for _, at := range []string{filepath.Join(models, n, "model.tflite"), filepath.Join(models, n+".tflite")} {
			if _, err := os.Stat(at); err == nil {
				return n, at, nil
			}
		}
	}
	return "", "", fmt.Errorf("--models %s has none of %s", models, strings.Join(slices.Compact(names), ", "))
}

func printVela(a *cli.App, r *velaReport) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "network\taccelerator\tVela\tcycles\tratio\tVela\tconstants\tVela\tSRAM peak\tVela\tAXI0 beats\tVela\tAXI1 beats\tdifferent\t")
	for _, x := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.3f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d of %d\t\n", x.Network, x.Accelerator, x.Vela.Cycles, x.Own.Cycles, x.Ratio,
			x.Vela.ConstantBytes, x.Own.ConstantBytes, x.Vela.SRAMBytes, x.Own.SRAMBytes, x.Vela.AXI0Beats, x.Own.AXI0Beats, x.Vela.AXI1Beats, x.Own.AXI1Beats, x.Different, x.Elements)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "%d of %d take no more cycles than Vela's; geometric mean %.3f, worst %.3f\n", r.Within, len(r.Rows), r.Mean, r.Worst)
	return err
}
