package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// NameList is a flag that takes names, separated by commas or one by one.
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

// Distinct is an error that names what a list has twice.
func Distinct(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("%s is named twice", name)
		}
	}
	return nil
}

// Finite is a flag that takes a number, neither NaN nor infinite.
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

// socUnused are the commands that do not use the machine.
var socUnused = []string{
	"nnsoc completion", "nnsoc dsp asm", "nnsoc dsp disasm", "nnsoc gpu asm", "nnsoc gpu disasm", "nnsoc help", "nnsoc models", "nnsoc npu asm", "nnsoc npu disasm", "nnsoc version",
}

// CheckSoC refuses --soc where it does nothing.
func CheckSoC(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("soc"); f != nil && f.Changed && slices.Contains(socUnused, cmd.CommandPath()) {
		return Usage(fmt.Errorf("--soc does nothing with %q", cmd.CommandPath()))
	}
	return nil
}
