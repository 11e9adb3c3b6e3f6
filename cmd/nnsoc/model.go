package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// readModel returns what a MODEL argument names: a file where there is one,
// otherwise a network of the zoo. Every command that takes a MODEL calls it.
// Inputs of a file take other shapes than its own by name.
func readModel(name string, shapes map[string][]uint32) (*nn.Model, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() || name == "" {
		return importModel(name, shapes)
	}
	if n, ok := zoo.Find(name); ok {
		if len(shapes) > 0 {
			return nil, usage(fmt.Errorf("--shape needs a model file, %s is built with shapes of its own", name))
		}
		return n.Build()
	}
	_, err := os.Stat(name)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Base(name) != name || filepath.Ext(name) == ".tflite" {
		return importModel(name, shapes) // says what is wrong with the file
	}
	return nil, usage(fmt.Errorf("open %s: no such file, nor a network of \"nnsoc models\"; similar ones: %s",
		name, strings.Join(zoo.Similar(name, 4), ", ")))
}

// completeModel completes the one MODEL argument of a command.
func completeModel(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeModels(cmd, args, prefix)
}

// completeModels completes a MODEL argument: networks of the zoo and, by the
// shell, files.
func completeModels(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, n := range zoo.Names() {
		if strings.HasPrefix(n, prefix) {
			names = append(names, n)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// embeddedNetwork is what commands take without a MODEL: MobileNet v1 1.0 224,
// quantized or in its float form.
func embeddedNetwork(quantized bool) *nn.Model {
	form := "float"
	if quantized {
		form = "quant"
	}
	m := zoo.MustBuild("mobilenet_v1_1.0_224_" + form)
	m.Name = "mobilenet_v1_1.0_224_synthetic_" + form
	return m
}
