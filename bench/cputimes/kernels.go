package cputimes

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

//go:embed kernels.tsv
var kernelsTable string

// kernels are the operations of the table of kernels, from an input to the output.
var kernels = map[string]struct {
	sizes int
	add   func(b *builder.Builder, n []uint32) tensor
}{
	"gemm": {3, func(b *builder.Builder, n []uint32) tensor {
		return b.Dense(b.Values("x", n[1], n[2]), n[0], builder.NoActivation)
	}},
	"fc": {2, func(b *builder.Builder, n []uint32) tensor {
		return b.Dense(b.Values("x", 1, n[1]), n[0], builder.NoActivation)
	}},
	"conv": {5, func(b *builder.Builder, n []uint32) tensor {
		return b.Conv(image(b, n), builder.Conv{Out: n[2], Kernel: n[3], Stride: n[4]})
	}},
	"depthwise": {4, func(b *builder.Builder, n []uint32) tensor {
		return b.Depthwise(image(b, n), builder.Conv{Kernel: n[2], Stride: n[3], Pad: 1})
	}},
	"maxpool": {4, func(b *builder.Builder, n []uint32) tensor {
		return b.MaxPool(image(b, n), builder.Pool{Window: n[2], Stride: n[3], Valid: true})
	}},
	"averagepool": {4, func(b *builder.Builder, n []uint32) tensor {
		return b.AveragePool(image(b, n), builder.Pool{Window: n[2], Stride: n[3], Valid: true})
	}},
	"softmax": {1, func(b *builder.Builder, n []uint32) tensor { return b.Softmax(b.Values("x", 1, n[0])) }},
}

func image(b *builder.Builder, n []uint32) tensor { return b.Values("x", 1, n[0], n[0], n[1]) }

// kernel builds a row's operation.
func kernel(name string, sizes []uint32, float bool) (*nn.Model, error) {
	k, ok := kernels[name]
	if !ok || len(sizes) != k.sizes {
		return nil, fmt.Errorf("cpu: no kernel %q of %d sizes", name, len(sizes))
	}
	b := builder.New(config(float))
	b.Output(k.add(b, sizes), "y")
	return outline(b, name)
}

// Kernels prices all rows of single kernels.
func Kernels() ([]Row, error) {
	var rows []Row
	for _, f := range table(kernelsTable)[1:] {
		var sizes []uint32
		for _, text := range strings.Fields(f[1]) {
			n, err := strconv.ParseUint(text, 10, 31)
			if err != nil {
				return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
			}
			sizes = append(sizes, uint32(n))
		}
		m, err := kernel(f[0], sizes, f[2] == "f32")
		if err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
		}
		s, err := specOf(f[3])
		if err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
		}
		r := Row{What: f[0] + " " + f[1], Type: f[2], Cores: f[3], Role: f[4]}
		if r.Ms, err = strconv.ParseFloat(f[5], 64); err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
		}
		if err := r.price(s, m); err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", f[0], err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// table splits a table of tab-separated columns into its lines; those that begin with # are
// left out.
func table(text string) (lines [][]string) {
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(l, "#") {
			lines = append(lines, strings.Split(l, "\t"))
		}
	}
	return lines
}
