package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// NoArguments refuses arguments; of a command with parts it names these.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if len(names) > 0 {
		return Usage(fmt.Errorf("unknown command %q; there are %s%s", args[0], strings.Join(names, ", "), spelling.DidYouMean(args[0], names)))
	}
	return Usage(fmt.Errorf("%s accepts no argument, got %q", cmd.CommandPath(), args[0]))
}

// ProgramArguments marks a command whose arguments after the first are those of a program.
const ProgramArguments = "program arguments"

// own are the arguments of a command that are not a program's.
func own(cmd *cobra.Command, args []string) []string {
	if _, ok := cmd.Annotations[ProgramArguments]; ok {
		return args[:min(1, len(args))]
	}
	return args
}

// NoEmptyArgument refuses an empty argument: that of an unset shell variable names nothing.
func NoEmptyArgument(cmd *cobra.Command, args []string) error {
	if i := slices.Index(own(cmd, args), ""); i >= 0 && !cmd.Hidden {
		return Usage(fmt.Errorf("argument %d of %s is empty", i+1, cmd.CommandPath()))
	}
	return nil
}

// argument is the name of a command's first argument in its usage.
func argument(cmd *cobra.Command) string {
	return strings.TrimSuffix(strings.Trim(strings.Fields(cmd.Use)[1], "[]"), "...")
}

// AtMostOne accepts an optional argument.
func AtMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usage(fmt.Errorf("%s accepts at most one %s, got %d arguments", cmd.CommandPath(), argument(cmd), len(args)))
	}
	return nil
}

// ExactlyOne demands one argument.
func ExactlyOne(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return Usage(fmt.Errorf("%s needs exactly one %s, got %d arguments", cmd.CommandPath(), argument(cmd), len(args)))
	}
	return nil
}

// AtLeastOne demands an argument, before those of a program behind "--".
func AtLeastOne(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || cmd.ArgsLenAtDash() == 0 {
		return Usage(fmt.Errorf("%s needs %s", cmd.CommandPath(), argument(cmd)))
	}
	return nil
}

// CompleteFiles offers files with these extensions.
func CompleteFiles(ext ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return ext, cobra.ShellCompDirectiveFilterFileExt
	}
}
