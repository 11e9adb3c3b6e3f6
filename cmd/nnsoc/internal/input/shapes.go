package input

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// ShapeFlag is --shape NAME=1,224,224,3, once for each input.
type ShapeFlag struct{ Given []string }

// Add adds the flag.
func (f *ShapeFlag) Add(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.Given, "shape", nil, "shape of an input instead of the file's: NAME=1,224,224,3 (repeat for more inputs)")
}

// NeedModel is an error when shapes are specified without a model file.
func (f *ShapeFlag) NeedModel() error {
	if len(f.Given) == 0 {
		return nil
	}
	return cli.Usage(errors.New("--shape needs a MODEL"))
}

// ParseEach returns those of n networks, given as N:NAME=1,224,224,3: the networks are counted from 1.
func (f *ShapeFlag) ParseEach(n int) ([]map[string][]uint32, error) {
	each, shapes := make([]ShapeFlag, n), make([]map[string][]uint32, n)
	for _, g := range f.Given {
		number, given, _ := strings.Cut(g, ":")
		i, err := strconv.Atoi(number)
		if err != nil || i < 1 || i > n {
			return nil, cli.Usage(fmt.Errorf("--shape %s: of several networks want N:NAME=1,224,224,3, N from 1 to %d", g, n))
		}
		each[i-1].Given = append(each[i-1].Given, given)
	}
	for i := range each {
		var err error
		if shapes[i], err = each[i].Parse(); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

// Parse returns the shapes by name of the input. A name may hold "=", a shape
// follows the last.
func (f *ShapeFlag) Parse() (map[string][]uint32, error) {
	shapes := map[string][]uint32{}
	for _, g := range f.Given {
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
