package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// values are the values of flags of these names, of any command.
var values = map[string][]string{
	"preference":    {"fast", "sustained", "low-power"},
	"priority":      {"low", "medium", "high"},
	"profile-value": {"cycles", "time", "energy", "executions"},
	"trace-format":  {"json\tChrome trace events", "pftrace\tPerfetto"},
	"via":           {"device\tthe driver itself", "service\ta process boundary", "runtime\tNNAPI's runtime"},
	"dataflow":      {"os\toutputs stay", "ws\tweights stay", "is\tinputs stay"},
	"overlap":       {"none", "preload"},
	"format":        {"text", "benchstat"},
	"engine":        {"cpu", "gpu", "dsp", "npu"},
	"suite":         {"mlts\tnetworks of the benchmark app", "micro\tsingle operations"},
	"strategies":    partition.Known([]partition.Device{{Name: "cpu"}, {Name: "gpu"}, {Name: "dsp"}, {Name: "npu"}}),
}

// extensions lists which files the flags of these names accept, none for any.
var extensions = map[string][]string{
	"labels": {"txt"}, "write": {"toml", "json"}, "html": {"html"}, "csv": {"csv"}, "report": {"json", "html"}, "library": {"so"}, "trace": {"json", "gz", "pftrace"}, "profile": {"gz", "folded"}, "results": {"jsonl"}, "plan": {"json"}, "input": nil, "dataset": nil, "socket": nil, "driver": nil, "driver-so": {"so"},
}

// folders are flags whose value is a folder.
var folders = map[string]bool{"out": true, "export": true, "drivers": true, "data": true, "dir": true, "checkout": true, "dump": true, "cache-dir": true, "save-models": true, "machine": true}

// complete completes the values of flags whose commands do not do so themselves.
func complete(a *cli.App, root *cobra.Command) {
	_ = root.RegisterFlagCompletionFunc("soc", machine.CompleteSoC)
	_ = root.RegisterFlagCompletionFunc("set", machine.CompleteSet(a))
	_ = root.RegisterFlagCompletionFunc("json", cobra.FixedCompletions([]string{"lines\trows as they come"}, cobra.ShellCompDirectiveNoFileComp))
	walk(root, func(c *cobra.Command) {
		flags := func(f *pflag.Flag) {
			if _, done := c.GetFlagCompletionFunc(f.Name); done {
				return
			}
			if fn := completion(f.Name); fn != nil {
				_ = c.RegisterFlagCompletionFunc(f.Name, fn)
			}
		}
		c.LocalNonPersistentFlags().VisitAll(flags)
		c.PersistentFlags().VisitAll(flags)
	})
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, x := range c.Commands() {
		walk(x, visit)
	}
}

// completion is the completion of a flag by its name, nil for one that accepts free text.
func completion(flag string) cobra.CompletionFunc {
	if list, ok := values[flag]; ok {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
	if ext, ok := extensions[flag]; ok {
		directive := cobra.ShellCompDirectiveDefault
		if len(ext) > 0 {
			directive = cobra.ShellCompDirectiveFilterFileExt
		}
		return cobra.FixedCompletions(ext, directive)
	}
	switch {
	case flag == "soc":
		return machine.CompleteSoC
	case folders[flag]:
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case flag == "output": // a file or a folder, by the command
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	case flag == "models":
		return input.CompleteModels
	case flag == "force-unsupported", flag == "place", flag == "operations":
		return completeOperations
	case flag == "hal-version":
		return cobra.FixedCompletions([]string{"gpu:1.2", "dsp:1.2", "npu:1.2", "gpu:1.1", "dsp:1.1", "npu:1.1", "gpu:1.0", "dsp:1.0", "npu:1.0"}, cobra.ShellCompDirectiveNoFileComp)
	}
	return nil
}

func completeOperations(_ *cobra.Command, _ []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
	for t := nn.OperationType(0); t.Valid(); t++ {
		if strings.HasPrefix(t.String(), prefix) {
			names = append(names, t.String())
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
