package machine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// LoadSoC reads the SoC of --soc with the changes of --set, and more.
func LoadSoC(a *cli.App, more ...soc.Change) (*soc.Config, error) {
	return LoadNamed(a, a.SoC, more...)
}

// LoadNamed is LoadSoC of another SoC than that of --soc. The name of one that --set makes another is marked, so that no
// report of it passes for one of the preset; values that are there already leave everything as it is.
func LoadNamed(a *cli.App, name string, more ...soc.Change) (*soc.Config, error) {
	changes, err := Changes(a)
	if err != nil {
		return nil, err
	}
	c, err := soc.LoadChanged(name, append(changes, more...)...)
	if err != nil {
		return nil, preset(name, err)
	}
	if len(changes) > 0 && !same(name, c, more...) {
		c.SoC.Name += mark(a)
	}
	return c, nil
}

// same reports whether a machine is that of a name with more changes alone.
func same(name string, c *soc.Config, more ...soc.Change) bool {
	plain, err := soc.LoadChanged(name, more...)
	return err == nil && reflect.DeepEqual(plain, c)
}

// preset ends the refusal of a preset's name with the one that was meant.
func preset(name string, err error) error {
	if strings.ContainsAny(name, "/.") || slices.Contains(soc.Presets(), name) {
		return cli.Usage(err)
	}
	return cli.Usage(fmt.Errorf("%w%s", err, spelling.DidYouMean(name, soc.Presets())))
}

// PresetText is the file of a preset.
func PresetText(name string) ([]byte, error) {
	text, err := soc.Text(name)
	if err != nil {
		return nil, preset(name, err)
	}
	return text, nil
}

// Changed is the mark of --set in the name of the machine of --soc, nothing where it leaves the machine as it is.
func Changed(a *cli.App) string {
	c, err := LoadSoC(a)
	if err == nil && same(a.SoC, c) {
		return ""
	}
	return mark(a)
}

// mark is what --set adds to the name of a machine that it makes another.
func mark(a *cli.App) string {
	if len(a.Set) == 0 {
		return ""
	}
	return " with " + strings.Join(a.Set, ", ")
}

// Changes returns the changes that --set requests.
func Changes(a *cli.App) (changes []soc.Change, err error) {
	for _, s := range a.Set {
		c, err := soc.ParseChange(s)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--set: %w", err))
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// CompleteSoC offers the presets; files complete by the shell.
func CompleteSoC(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return soc.Presets(), cobra.ShellCompDirectiveDefault
}

// CompleteSet offers the numbers of the SoC, each with its value.
func CompleteSet(a *cli.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		keys, err := soc.Keys(a.SoC)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var list []string
		for _, k := range keys {
			list = append(list, fmt.Sprintf("%s=\tnow %g", k.Path, k.Value))
		}
		for _, x := range soc.Aliases() {
			list = append(list, fmt.Sprintf("%s=\tsuch as %s", x.Key, x.Example))
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// CompleteKeys offers patterns of keys: all of a section, and each number with its meaning.
func CompleteKeys(a *cli.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		keys, err := soc.Keys(a.SoC)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var sections, list []string
		for _, k := range keys {
			if section, _, below := strings.Cut(k.Path, "."); below && !slices.Contains(sections, section+".*\tall of "+section) {
				sections = append(sections, section+".*\tall of "+section)
			}
			m, _ := soc.MeaningOf(k.Path)
			list = append(list, k.Path+"\t"+m.Text)
		}
		return append(sections, list...), cobra.ShellCompDirectiveNoFileComp
	}
}
