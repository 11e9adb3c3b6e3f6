package inspect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// compileReport is the JSON object of compile.
type compileReport struct {
	SchemaVersion int `json:"schema_version"`
	session.ModelReport
	SoC       string                  `json:"soc"`
	Device    string                  `json:"device"`
	Steps     []stepEntry             `json:"steps"`
	Fallback  int                     `json:"fallback_operations"`
	Fallbacks []session.FallbackEntry `json:"fallbacks"`
}

type stepEntry struct {
	Device     string   `json:"device"`
	Operations []int    `json:"operation_indices"`
	Nodes      []string `json:"nodes,omitempty"` // of the file that the operations compute, of those without a name their first tensors
	Listing    string   `json:"listing,omitempty"`
}

// NewCompile returns the command compile.
func NewCompile(a *cli.App) *cobra.Command {
	var device, output string
	var listing, relaxed, hashes, passes, steps, explain bool
	var choice input.ChoiceFlags
	var candidates machine.CandidateFlag
	var limits machine.Limits
	cmd := &cobra.Command{
		Use:               "compile [MODEL]...",
		ValidArgsFunction: input.CompleteModels,
		Short:             "compile a network for one device and show its parts or its program",
		Long: `compile lowers a network for one device and shows which operations run where and why
an operation falls back to the CPU. With -S it prints the program: every instruction
with its source operation and a cycle estimate. Without MODEL it uses the embedded
MobileNet v1. With --hash it prints one SHA-256 per program instead, of any number of
networks, test-case documents and folders of these: equal hashes are equal programs. With --passes it
prints the graph as the device's middle end changes it, pass by pass. With --steps it prints what
lowering made of each part before it was planned: kernels with their parameters, the tensors
that they read and write, and the dependences between rows. With --explain it runs each part
alone, on inputs of zeros and with cold caches, and prints the estimated beside the simulated
cycles of its steps, and the candidate kernels of each with their estimated cycles.
--candidate selects one of these instead, here and in run.`,
		Example: "  nnsoc compile model.tflite --device aosp\n  nnsoc compile model.tflite --device auto\n  nnsoc compile model.tflite --device dsp -S -o model.s\n  nnsoc compile model.tflite cases.json.gz --device npu --hash\n  nnsoc compile model.tflite --device npu --passes\n  nnsoc compile model.tflite --device dsp --steps\n  nnsoc compile model.tflite --device dsp --explain\n  nnsoc compile model.tflite --device npu --candidate 3='block 8x8x32' --explain",
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := machine.Open(a, hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			if _, err := m.Choose([]string{device}); err != nil {
				return err
			}
			if err := m.Limit(&limits); err != nil {
				return err
			}
			if hashes {
				if listing || steps || explain || passes || output != "" || choice.Given() {
					return cli.Usage(errors.New("--hash prints no program and reads files as they are: leave out -S, --steps, --explain, --passes, -o, --shape and --signature"))
				}
				if candidates.Given() || limits.Given() {
					return cli.Usage(errors.New("--hash is of the programs as chosen: leave out --candidate, --force-unsupported and --place"))
				}
				if machine.HasCache(a) {
					return cli.Usage(errors.New("--hash compiles what it hashes: leave out --cache-dir and --token"))
				}
				return printHashes(a, m, args, device)
			}
			if len(args) > 1 {
				return cli.Usage(fmt.Errorf("nnsoc compile accepts at most one MODEL, got %d arguments (several with --hash)", len(args)))
			}
			model, err := compileModel(a, args, m, device, &choice)
			if err != nil {
				return err
			}
			if err := m.CheckLimits(model); err != nil {
				return err
			}
			model.Relaxed = relaxed
			if err := nnrt.Validate(model); err != nil {
				return cli.Usage(fmt.Errorf("%s: %w", model.Name, err))
			}
			if passes {
				if listing || steps || explain || output != "" {
					return cli.Usage(errors.New("--passes prints no program: leave out -S, --steps, --explain and -o"))
				}
				if machine.HasCache(a) {
					return cli.Usage(errors.New("--passes compiles nothing to keep: leave out --cache-dir and --token"))
				}
				if candidates.Given() || limits.Given() {
					return cli.Usage(errors.New("--passes chooses no kernels and no devices: leave out --candidate, --force-unsupported and --place"))
				}
				return printPasses(a, m, model, device)
			}
			if steps && listing || explain && (steps || listing) {
				return cli.Usage(errors.New("--steps, --explain and -S print different things: give one of them"))
			}
			p := a.Progress()
			p.Update("%s: compile %s", device, model.Name)
			var o nnrt.CompileOptions
			o.Candidates, err = candidates.For(model, device)
			if err != nil {
				return err
			}
			c, err := m.CompileModel(model, device, o)
			p.Done()
			if err != nil {
				return machine.CandidateError(err)
			}
			return printCompilation(a, m, c, listing, steps, explain, output)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&device, "device", nnrt.ByStrategy, "device to compile for, auto: a plan by prediction, or aosp: divided by Android's rule")
	choice.Add(cmd)
	machine.AddCache(a, cmd)
	candidates.Add(fl)
	limits.AddPlaces(cmd)
	fl.BoolVarP(&listing, "listing", "S", false, "print the program of each part")
	fl.BoolVar(&hashes, "hash", false, "print the SHA-256 of each program")
	fl.BoolVar(&passes, "passes", false, "print the graph before and after each pass that makes it canonical for the device")
	fl.BoolVar(&steps, "steps", false, "print the steps of each part: kernels with their parameters, tensors, row dependences")
	fl.BoolVar(&explain, "explain", false, "run each part and print estimated beside simulated cycles of its steps, and the candidates for each")
	fl.BoolVar(&relaxed, "relaxed", false, "allow float32 operations to compute in float16")
	fl.StringVarP(&output, "output", "o", "", "write to this file instead of standard output")
	cli.MarkFile(fl, "output")
	machine.CompleteDevices(a, cmd, machine.Plans...)
	return cmd
}

// compileModel reads the model; the embedded default is in the form that the device supports.
func compileModel(a *cli.App, args []string, m *machine.Machine, device string, choice *input.ChoiceFlags) (_ *nn.Model, err error) {
	defer try.Catch(&err)
	if len(args) > 0 {
		return input.ReadModel(a, args[0], try.V(choice.Parse()))
	}
	try.E(choice.NeedModel())
	w := &input.Workload{
		Primary: &input.Form{Model: input.EmbeddedNetwork(true)},
		Other:   func() (*input.Form, error) { return &input.Form{Model: input.EmbeddedNetwork(false)}, nil },
	}
	f := try.V(w.Form(device, m))
	return f.Model, nil
}

func printCompilation(a *cli.App, m *machine.Machine, c *nnrt.Compilation, listing, steps, explain bool, path string) error {
	r := compileReport{
		SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Device: c.Device,
		ModelReport: session.NewModelReport(c.Model),
		Fallback:    len(c.Fallbacks), Fallbacks: session.FallbackEntries(c.Model, c.Fallbacks),
	}
	withSteps := 0
	for i := range c.Steps() {
		s := c.Step(i)
		e := stepEntry{Device: s.Device, Operations: s.Operations}
		for _, op := range s.Operations {
			names := session.NamesOf(&c.Model.Main, op)
			e.Nodes = append(e.Nodes, names.Name())
		}
		if strings.Join(e.Nodes, "") == "" {
			e.Nodes = nil
		}
		if listing {
			var b bytes.Buffer
			if err := s.Prepared.WriteListing(&b); err != nil {
				return fmt.Errorf("%s: %w", s.Device, err)
			}
			e.Listing = b.String()
		}
		if x, ok := hal.As[hal.StepPrinter](s.Prepared); steps && ok {
			var b bytes.Buffer
			if x.WriteSteps(&b) == nil {
				e.Listing, withSteps = b.String(), withSteps+1
			}
		}
		if x, ok := hal.As[hal.Explainer](s.Prepared); explain && ok {
			var b bytes.Buffer
			if x.Explain(&b) == nil {
				e.Listing, withSteps = numbered(b.String(), s.Operations), withSteps+1
			}
		}
		r.Steps = append(r.Steps, e)
	}
	if explain && withSteps == 0 {
		return cli.Usage(fmt.Errorf("--explain: no part of %s on %s runs on a device that explains its steps", c.Model.Name, c.Device))
	}
	if steps && withSteps == 0 {
		return cli.Usage(fmt.Errorf("--steps: no part of %s on %s runs on a device that prints steps", c.Model.Name, c.Device))
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	var err error
	if a.JSON {
		err = cli.PrintJSON(w, r)
	} else {
		err = r.print(w, c.Model)
	}
	if e := w.Flush(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if path != "" {
		return cli.WriteFile(path, b.Bytes())
	}
	_, err = a.Out.Write(b.Bytes())
	return err
}

// numbered is a part's explanation with the numbers that its operations have in the model, as in --candidate: a table
// whose rows begin with an operation's number in the part, up to their sum.
func numbered(text string, operations []int) string {
	table, rest, sum := strings.Cut(text, "\nall ")
	lines, wider := strings.Split(table, "\n"), 0
	column := strings.Index(lines[0], " step")
	if column < 0 || !sum {
		return text // of a driver from outside
	}
	labels := make([]string, len(lines))
	for i, line := range lines {
		digits, _, _ := strings.Cut(line, " ")
		if k, err := strconv.Atoi(digits); err == nil && k >= 0 && k < len(operations) {
			labels[i] = strconv.Itoa(operations[k])
			wider = max(wider, len(labels[i])-len(digits))
		}
	}
	for i, line := range lines {
		if strings.HasPrefix(line, " ") || len(line) < column {
			continue // a candidate
		}
		label, more := line[:column], line[column:]
		if labels[i] != "" {
			_, name, _ := strings.Cut(label, " ")
			label = labels[i] + " " + name
		}
		lines[i] = fmt.Sprintf("%-*s%s", column+wider, label, more)
	}
	return strings.Join(lines, "\n") + "\nall " + strings.Repeat(" ", wider) + rest
}

// longestName bounds the characters of a node's name in a line.
const longestName = 60

func (r *compileReport) print(w *bufio.Writer, m *nn.Model) error {
	fmt.Fprintf(w, "%s for %s on %s: %s, %d of %d operations fall back to the CPU\n",
		r.Model, r.Device, r.SoC, cli.Count(len(r.Steps), "part"), r.Fallback, r.OperationCount)
	if line := r.HostLine(); line != "" {
		fmt.Fprintln(w, line)
	}
	for i, s := range r.Steps {
		if s.Listing != "" {
			fmt.Fprintf(w, "\n; part %d on %s\n%s", i, s.Device, s.Listing)
			continue
		}
		fmt.Fprintf(w, "\npart %d on %s\n", i, s.Device)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for k, op := range s.Operations {
			o := &m.Main.Operations[op]
			fmt.Fprintf(t, "  %d\t%v\t%v", op, o.Type, m.Main.Operands[o.Outputs[0]].Dimensions)
			if s.Nodes != nil {
				fmt.Fprint(t, "\t", spelling.Short(s.Nodes[k], longestName))
			}
			if note := session.HostNote(o.Type); note != "" {
				fmt.Fprint(t, "\t", note)
			}
			fmt.Fprintln(t)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	for _, f := range r.Fallbacks {
		fmt.Fprintf(w, "fallback: operation %d (%s): %s\n", f.Index, f.Type, f.Reason)
	}
	return nil
}
