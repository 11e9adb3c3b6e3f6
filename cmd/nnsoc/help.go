package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// groups are the commands as help lists them.
var groups = []struct {
	title    string
	commands []string
}{
	{"Networks:", []string{"run", "partition", "schedule", "compile", "supported", "graph", "models", "eval", "app"}},
	{"Machines and drivers:", []string{"soc", "devices", "capabilities", "ops", "serve", "driver"}},
	{"Engines:", []string{"dsp", "gpu", "npu"}},
	{"Tests:", []string{"vts", "mlts", "conformance", "fuzz"}},
	measurements: {"Measurements:", []string{"bench", "sweep", "trace-summary"}},
	{"This program:", []string{"help", "explain", "man", "completion", "version"}},
}

// measurements is the group of commands that no other names.
const measurements = 4

// group puts the commands into groups.
func group(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			for _, c := range root.Commands() {
				if c.Name() == name {
					c.GroupID = g.title
				}
			}
		}
	}
	for _, c := range root.Commands() {
		if c.GroupID == "" {
			c.GroupID = groups[measurements].title
		}
	}
	root.SetHelpCommandGroupID(groups[len(groups)-1].title)
}

// helpColumns is how wide help is at most.
const helpColumns = 100

// wrapHelp prints help whose paragraphs fit, or as a JSON object.
func wrapHelp(a *cli.App, print func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		if a.JSON {
			_ = cli.PrintJSON(a.Out, helpObject(c)) // Out keeps its error
			return
		}
		fit(c)
		c.Flags().VisitAll(withoutDefault)
		print(c, args)
	}
}

// helpReport is the JSON object of help.
type helpReport struct {
	SchemaVersion int           `json:"schema_version"`
	Usage         string        `json:"usage"`
	Short         string        `json:"short"`
	Long          string        `json:"long,omitempty"`
	Examples      []string      `json:"examples"`
	Commands      []helpCommand `json:"commands,omitempty"`
	Flags         []helpFlag    `json:"flags"`
}

type helpCommand struct {
	Name  string `json:"name"`
	Short string `json:"short"`
	Group string `json:"group,omitempty"`
}

type helpFlag struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	Type      string `json:"type"`
	Default   string `json:"default"`
	Usage     string `json:"usage"`
	Global    bool   `json:"global,omitempty"` // of every command
}

func helpObject(c *cobra.Command) helpReport {
	r := helpReport{SchemaVersion: cli.SchemaVersion, Usage: c.UseLine(), Short: c.Short, Long: c.Long, Examples: []string{}}
	for l := range strings.Lines(c.Example) {
		r.Examples = append(r.Examples, strings.TrimSpace(l))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			r.Commands = append(r.Commands, helpCommand{sub.Name(), sub.Short, strings.TrimSuffix(sub.GroupID, ":")})
		}
	}
	add := func(global bool) func(*pflag.Flag) {
		return func(f *pflag.Flag) {
			if !f.Hidden {
				r.Flags = append(r.Flags, helpFlag{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Usage, global})
			}
		}
	}
	c.LocalFlags().VisitAll(add(false))
	c.InheritedFlags().VisitAll(add(true))
	return r
}

// zeros are the defaults that help does not print, of types whose empty text it would; "" of others.
var zeros = map[string]string{"int": "0", "uint": "0", "float64": "0", "duration": "0s", "stringSlice": "[]", "stringArray": "[]", "intSlice": "[]"}

// withoutDefault keeps an empty default out of help: "(default )" and "(default [])" say nothing.
func withoutDefault(f *pflag.Flag) {
	if f.DefValue == "" || f.DefValue == "[]" {
		f.DefValue = zeros[f.Value.Type()]
	}
}

// fit fills the paragraphs of a command's help that are too wide anew.
func fit(c *cobra.Command) {
	var out, block []string
	end := func() {
		out = append(out, filled(block)...)
		block = nil
	}
	for _, l := range strings.Split(c.Long, "\n") {
		if l == "" || l[0] == ' ' { // between paragraphs, or a table
			end()
			out = append(out, hanging(l)...)
			continue
		}
		block = append(block, l)
	}
	end()
	c.Long = strings.Join(out, "\n")
}

// filled are the lines of a paragraph, as they are when they fit.
func filled(lines []string) []string {
	wide := false
	for _, l := range lines {
		wide = wide || len([]rune(l)) > helpColumns
	}
	if !wide {
		return lines
	}
	var out []string
	line := ""
	for _, w := range strings.Fields(strings.Join(lines, " ")) {
		switch {
		case line == "":
			line = w
		case len([]rune(line))+1+len([]rune(w)) <= helpColumns:
			line += " " + w
		default:
			out = append(out, line)
			line = w
		}
	}
	return append(out, line)
}

// hanging breaks a line of a table that is too wide, the rest below its last column.
func hanging(l string) []string {
	if len([]rune(l)) <= helpColumns {
		return []string{l}
	}
	at := strings.LastIndex(l, "  ") + 2
	lead := strings.Repeat(" ", at)
	var out []string
	line := l[:at]
	for i, w := range strings.Fields(l[at:]) {
		switch {
		case i == 0 || line == lead:
			line += w
		case len([]rune(line))+1+len([]rune(w)) <= helpColumns:
			line += " " + w
		default:
			out = append(out, line)
			line = lead + w
		}
	}
	return append(out, line)
}
