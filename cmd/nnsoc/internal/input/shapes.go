package input

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// Choice is what a model file leaves to its user. The zero value takes the file as it is.
type Choice struct {
	Shapes    map[string][]uint32 // of inputs, by name
	Signature string              // of a .tflite file that has several
}

// ChoiceFlags are --shape NAME=1,224,224,3, once for each input, and --signature NAME.
type ChoiceFlags struct {
	shapes, signatures []string
}

// Add adds the flags.
func (f *ChoiceFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.shapes, "shape", nil, "shape of an input instead of the file's: NAME=1,224,224,3 (repeat for more inputs)")
	fl.StringArrayVar(&f.signatures, "signature", nil, "signature of a .tflite file that has several, as MODEL#NAME does")
	_ = cmd.RegisterFlagCompletionFunc("signature", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return signatureKeys(args), cobra.ShellCompDirectiveNoFileComp
	})
}

// Given reports whether a flag is given.
func (f *ChoiceFlags) Given() bool { return len(f.shapes)+len(f.signatures) > 0 }

// NeedModel is an error when a flag is given without a model file.
func (f *ChoiceFlags) NeedModel() error {
	switch {
	case len(f.shapes) > 0:
		return cli.Usage(errors.New("--shape needs a MODEL"))
	case len(f.signatures) > 0:
		return cli.Usage(errors.New("--signature needs a MODEL"))
	}
	return nil
}

// ParseEach returns those of n networks, given as N:NAME=1,224,224,3 and N:NAME: the networks are counted from 1.
func (f *ChoiceFlags) ParseEach(n int) (_ []Choice, err error) {
	each, choices := make([]ChoiceFlags, n), make([]Choice, n)
	for _, g := range f.shapes {
		i, given, err := ofNetwork("shape", g, "NAME=1,224,224,3", n)
		if err != nil {
			return nil, err
		}
		each[i].shapes = append(each[i].shapes, given)
	}
	for _, g := range f.signatures {
		i, given, err := ofNetwork("signature", g, "NAME", n)
		if err != nil {
			return nil, err
		}
		each[i].signatures = append(each[i].signatures, given)
	}
	for i := range each {
		if choices[i], err = each[i].Parse(); err != nil {
			return nil, err
		}
	}
	return choices, nil
}

// ofNetwork divides the value N:GIVEN of a flag; the index counts from 0.
func ofNetwork(flag, value, want string, n int) (index int, given string, err error) {
	number, given, _ := strings.Cut(value, ":")
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > n {
		return 0, "", cli.Usage(fmt.Errorf("--%s %s: of several networks want N:%s, N from 1 to %d", flag, value, want, n))
	}
	return i - 1, given, nil
}

// Parse returns the choice of one network.
func (f *ChoiceFlags) Parse() (c Choice, err error) {
	if c.Shapes, err = parseShapes(f.shapes); err != nil {
		return c, err
	}
	for _, s := range f.signatures {
		switch {
		case s == "":
			return c, cli.Usage(errors.New("--signature names none: want NAME"))
		case c.Signature != "":
			return c, cli.Usage(fmt.Errorf("--signature %s: a second one, after %s", s, c.Signature))
		}
		c.Signature = s
	}
	return c, nil
}

// parseShapes returns shapes by name of the input. A name may hold "=", a shape
// follows the last.
func parseShapes(given []string) (map[string][]uint32, error) {
	shapes := map[string][]uint32{}
	for _, g := range given {
		at := strings.LastIndexByte(g, '=')
		if at <= 0 {
			return nil, cli.Usage(fmt.Errorf("--shape %s: want NAME=1,224,224,3", g))
		}
		name := g[:at]
		if _, ok := shapes[name]; ok {
			return nil, cli.Usage(fmt.Errorf("--shape %s: a second shape for %q", g, name))
		}
		var dims []uint32
		for _, s := range strings.Split(g[at+1:], ",") {
			d, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
			if err != nil || d == 0 {
				return nil, cli.Usage(fmt.Errorf("--shape %s: %q is no dimension, want a number above 0", g, s))
			}
			dims = append(dims, uint32(d))
		}
		shapes[name] = dims
	}
	return shapes, nil
}
