package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// manReport is the JSON object of man.
type manReport struct {
	SchemaVersion int    `json:"schema_version"`
	Name          string `json:"name"`
	Text          string `json:"text"`
}

// newMan returns the command man.
func newMan(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "man [COMMAND]...",
		Short:   "print a manual page",
		Long:    `man prints the manual page of nnsoc, or of one of its commands, in the format that man(1) reads.`,
		Example: "  nnsoc man > nnsoc.1\n  nnsoc man run > nnsoc-run.1",
		ValidArgsFunction: func(man *cobra.Command, args []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
			of, rest, err := man.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range of.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), prefix) {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(man *cobra.Command, args []string) error {
			cmd, rest, err := man.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = cli.NoArguments(cmd, rest)
			}
			if err != nil {
				return cli.Usage(err)
			}
			name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
			if text := manual(cmd); a.JSON {
				return cli.PrintJSON(a.Out, manReport{cli.SchemaVersion, name, text})
			} else if _, err := io.WriteString(a.Out, text); err != nil {
				return err
			}
			return nil
		},
	}
}

// manual is the page of a command as roff with the macros of man(7).
func manual(c *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", strings.ToUpper(roff(name)), roff(name), roff(c.Short), roff(c.UseLine()))
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	paragraphs(&b, long)
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
	}
	for _, set := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"OPTIONS", c.LocalFlags()}, {"OPTIONS OF EVERY COMMAND", c.InheritedFlags()}} {
		if !set.flags.HasAvailableFlags() {
			continue
		}
		fmt.Fprintf(&b, ".SH %s\n", set.title)
		set.flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			b.WriteString(".TP\n.B ")
			if f.Shorthand != "" {
				fmt.Fprintf(&b, "%s, ", roff("-"+f.Shorthand))
			}
			kind, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, "%s\n%s", roff(strings.TrimSpace("--"+f.Name+" "+kind)), roff(usage))
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
				fmt.Fprintf(&b, " (default %s)", roff(f.DefValue))
			}
			b.WriteString("\n")
		})
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0 ok, 1 mismatch or failed test, 2 bad input or usage, 3 internal error.\n")
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(strings.ReplaceAll(c.Parent().CommandPath(), " ", "-")))
	}
	return b.String()
}

// paragraphs writes a text whose lines with blanks before them stand as they are.
func paragraphs(b *strings.Builder, text string) {
	as := false
	for _, line := range strings.Split(text, "\n") {
		switch table := strings.HasPrefix(line, " "); {
		case line == "" && !as:
			b.WriteString(".PP\n")
			continue
		case table && !as:
			b.WriteString(".nf\n")
			as = true
		case !table && as:
			b.WriteString(".fi\n")
			as = false
		}
		if line != "" {
			fmt.Fprintln(b, roff(line))
		}
	}
	if as {
		b.WriteString(".fi\n")
	}
}

// roff escapes what a formatter would take for commands.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
