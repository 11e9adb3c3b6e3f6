package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// newRoot returns the root with all commands.
func newRoot(stdout, stderr io.Writer) *cobra.Command {
	return root(&cli.App{Out: stdout, Err: stderr}, nil)
}

// TestHelpFits: help is at most 100 columns wide, examples apart, which are to be pasted.
func TestHelpFits(t *testing.T) {
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion" {
			return // of cobra
		}
		var out, errs strings.Builder
		if code := execute(append(strings.Fields(c.CommandPath())[1:], "--help"), &out, &errs); code != 0 {
			t.Errorf("%s --help: exit code %d: %s", c.CommandPath(), code, errs.String())
		}
		for _, empty := range []string{"(default )", "(default [])", `(default "")`} {
			require.Check(t, !strings.Contains(out.String(), empty), "%s --help has %s", c.CommandPath(), empty)
		}
		before, rest, _ := strings.Cut(out.String(), "\nExamples:\n")
		_, after, _ := strings.Cut(rest, "\n\n")
		for _, l := range strings.Split(before+"\n"+after, "\n") {
			if n := len([]rune(l)); n > 100 {
				t.Errorf("%s --help: %d columns: %s", c.CommandPath(), n, l)
			}
		}
	})
}

// TestExamplesSet: the machines of examples with --set exist.
func TestExamplesSet(t *testing.T) {
	n := 0
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		for _, line := range strings.Split(c.Example, "\n") {
			if sets := regexp.MustCompile(`--(set|soc) [a-z]\S+=?\S*`).FindAllString(line, -1); strings.Contains(line, "--set ") {
				n++
				var errs strings.Builder
				if code := execute(strings.Fields("gpu exec testdata/vadd.s --arg new:u4:64 --arg new:u4:64 --arg new:u4:64 --arg i32:64 "+strings.Join(sets, " ")), io.Discard, &errs); code != 0 {
					t.Errorf("%s: %s", line, &errs)
				}
			}
		}
	})
	if n == 0 {
		t.Error("no example")
	}
}

// TestHelpJSON: help with --json is an object, of groups of commands too, and has an example.
func TestHelpJSON(t *testing.T) {
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		var h helpReport
		commandJSON(t, &h, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if want := c.HasAvailableSubCommands(); h.Usage == "" || h.Short == "" || len(h.Examples) == 0 || len(h.Flags) == 0 || (len(h.Commands) > 0) != want {
			t.Errorf("%s: %+v", c.CommandPath(), h)
		}
	})
	for _, line := range [][]string{nil, {"soc"}, {"help", "soc"}} {
		var h helpReport
		if commandJSON(t, &h, line...); len(h.Commands) == 0 {
			t.Errorf("%s: %+v", line, h)
		}
	}
}

// free are the flags whose values cannot be listed.
var free = []string{
	"address", "also", "arg", "block", "candidate", "client", "elements", "env", "estimator", "filter", "function", "grid", "kernel", "module", "name", "only", "points", "results", "run", "save", "shape", "shard",
	"title", "token",
}

// TestFlagsComplete: a flag with a name or a file as value completes it.
func TestFlagsComplete(t *testing.T) {
	n := 0
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if typ := f.Value.Type(); typ != "string" && typ != "stringArray" && typ != "names" || slices.Contains(free, f.Name) {
				return
			}
			n++
			if _, ok := c.GetFlagCompletionFunc(f.Name); !ok {
				t.Errorf("%s --%s completes nothing", c.CommandPath(), f.Name)
			}
		})
	})
	require.Check(t, n >= 30, "only %d flags", n)
}

// TestGroups: every command is in a group of the table, and every name there is a command.
func TestGroups(t *testing.T) {
	root := newRoot(io.Discard, io.Discard)
	for _, g := range groups {
		for _, name := range g.commands {
			if c, _, err := root.Find([]string{name}); err != nil || c.Name() != name && name != "help" {
				t.Errorf("%s %s: %v", g.title, name, err)
			} else if c.GroupID != g.title && name != "help" && name != "completion" {
				t.Errorf("%s is in %q, want %q", name, c.GroupID, g.title)
			}
		}
	}
}

// TestCommandsAlone: a command that the root has without the others is the one of its name, and prints the same help.
func TestCommandsAlone(t *testing.T) {
	help := func(args ...string) string {
		var out strings.Builder
		c := root(&cli.App{Out: &out, Err: &out}, args)
		c.SetArgs(append(slices.Clone(args), "--help"))
		require.Report(t, c.Execute())
		return out.String()
	}
	for _, x := range commands {
		alone := root(&cli.App{}, []string{x.name})
		if l := alone.Commands(); x.name != "man" && len(l) != 1 || // man describes all
			x.name != "man" && l[0].Name() != x.name || l[0].GroupID == "" {
			t.Errorf("%s: %v", x.name, l)
		}
		all := newRoot(io.Discard, io.Discard)
		var out strings.Builder
		all.SetOut(&out)
		all.SetArgs([]string{x.name, "--help"})
		if err := all.Execute(); err != nil || out.String() != help(x.name) {
			t.Errorf("%s --help differs from the one among all commands: %v", x.name, err)
		}
	}
	if n := len(root(&cli.App{}, []string{"--version"}).Commands()); n != 0 {
		t.Errorf("--version makes %d commands", n)
	}
	if n, m := len(root(&cli.App{}, []string{"--version", "run"}).Commands()), len(newRoot(io.Discard, io.Discard).Commands()); n != m || n < len(commands) {
		t.Errorf("flags before a command: %d commands of %d", n, m)
	}
}
