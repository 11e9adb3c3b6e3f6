package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// NameList is a flag of names, separated by commas or one by one.
type NameList struct {
	Names *[]string
	Once  bool // each name at most once
}

// String implements pflag.Value.
func (l NameList) String() string {
	if l.Names == nil {
		return ""
	}
	return strings.Join(*l.Names, ",")
}

// Type implements pflag.Value.
func (l NameList) Type() string { return "names" }

// Set implements pflag.Value.
func (l NameList) Set(s string) error {
	for _, name := range strings.Split(s, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			return errors.New("a name is empty")
		}
		if l.Once && slices.Contains(*l.Names, name) {
			return fmt.Errorf("%s is named twice", name)
		}
		*l.Names = append(*l.Names, name)
	}
	return nil
}

// Distinct is an error that names the duplicates in a list.
func Distinct(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("%s is named twice", name)
		}
	}
	return nil
}

// Finite is a flag of a number, neither NaN nor infinite.
type Finite float64

// String implements pflag.Value.
func (f *Finite) String() string { return strconv.FormatFloat(float64(*f), 'g', -1, 64) }

// Type implements pflag.Value.
func (f *Finite) Type() string { return "number" }

// Set implements pflag.Value.
func (f *Finite) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("want a finite number")
	}
	*f = Finite(v)
	return nil
}

// Exclude refuses flags that do nothing beside another one.
func Exclude(cmd *cobra.Command, flag string, useless ...string) error {
	if f := cmd.Flags().Lookup(flag); f == nil || !f.Changed || f.Value.String() == "false" {
		return nil
	}
	for _, name := range useless {
		if cmd.Flags().Changed(name) {
			return Usage(fmt.Errorf("--%s does nothing with --%s", name, flag))
		}
	}
	return nil
}

// unusedFlags are flags of the root beside the commands that do nothing with them, alone or with all their parts.
var unusedFlags = []struct{ flags, commands []string }{
	{[]string{"soc", "set", "driver", "drivers", "driver-so"}, []string{
		"nnsoc completion", "nnsoc explain", "nnsoc help", "nnsoc man", "nnsoc version", "nnsoc models", "nnsoc driver", "nnsoc diff", "nnsoc plot", "nnsoc trace-summary", "nnsoc soc list",
		"nnsoc dsp asm", "nnsoc dsp disasm", "nnsoc gpu asm", "nnsoc gpu disasm", "nnsoc npu asm", "nnsoc npu disasm", "nnsoc bench array", "nnsoc bench cpu", "nnsoc bench phones", "nnsoc bench energy",
	}},
	{[]string{"soc", "driver", "drivers", "driver-so"}, []string{"nnsoc soc show"}}, // which takes --set with --picture
	{[]string{"driver", "drivers", "driver-so"}, []string{
		"nnsoc app", "nnsoc soc explain", "nnsoc soc keys", "nnsoc dsp", "nnsoc gpu", "nnsoc npu", "nnsoc bench anchors", "nnsoc bench budget", "nnsoc bench dram", "nnsoc bench gpu", "nnsoc bench streams", "nnsoc bench vela",
	}},
	{[]string{"set"}, []string{"nnsoc soc explain", "nnsoc soc keys"}},
	{[]string{"soc"}, []string{"nnsoc bench vela"}},
	{[]string{"json"}, []string{"nnsoc completion"}},
}

// CheckUnused refuses flags of the root where they do nothing.
func CheckUnused(cmd *cobra.Command) error {
	for _, u := range unusedFlags {
		part := func(c string) bool { return strings.HasPrefix(cmd.CommandPath()+" ", c+" ") }
		for _, name := range u.flags {
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed && slices.ContainsFunc(u.commands, part) {
				return Usage(fmt.Errorf("--%s does nothing with %q", name, cmd.CommandPath()))
			}
		}
	}
	return nil
}

// FlagError is the error of a flag that cannot be read; for one that is not there it names the
// one that was meant.
func FlagError(cmd *cobra.Command, err error) error {
	meant := ""
	number, invalid := (*strconv.NumError)(nil), (*pflag.InvalidValueError)(nil)
	if errors.As(err, &invalid) && errors.As(err, &number) {
		f := invalid.GetFlag()
		err = fmt.Errorf("invalid argument %q for \"--%s\" flag: want %s", invalid.GetValue(), f.Name, f.Value.Type())
	}
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		meant = spelling.DidYouMean("--"+unknown.GetSpecifiedName(), names)
	}
	return Usage(fmt.Errorf("%w%s (see %q)", err, meant, cmd.CommandPath()+" --help"))
}

// OldNames lets flags be given by names that they had before they were spelt as in all other commands.
func OldNames(fl *pflag.FlagSet, names map[string]string) {
	fl.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if now, ok := names[name]; ok {
			name = now
		}
		return pflag.NormalizedName(name)
	})
}
