package gputimes

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"
)

//go:embed networks.tsv
var networksTable []byte

// Network is a network that was measured with kernels of float16.
type Network struct {
	Name      string  `json:"model"` // of package zoo
	Called    string  `json:"published_as"`
	Ms        float64 `json:"published_ms"` // latency of an application
	KernelsMs float64 `json:"published_kernels_ms"`
}

// Networks reads the table.
func Networks() ([]Network, error) {
	r := csv.NewReader(bytes.NewReader(networksTable))
	r.Comma, r.Comment = '\t', '#'
	lines, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var list []Network
	for _, f := range lines[1:] {
		n := Network{Name: f[0], Called: f[1]}
		for i, to := range []*float64{&n.Ms, &n.KernelsMs} {
			if *to, err = strconv.ParseFloat(f[3+i], 64); err != nil {
				return nil, fmt.Errorf("gpu: %v: %w", f, err)
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// NetworkRow is a measured network beside ours.
type NetworkRow struct {
	Network
	Ours         float64 `json:"simulated_ms"`
	OursKernels  float64 `json:"simulated_kernels_ms"`
	Ratio        float64 `json:"ratio"` // ours / published
	KernelsRatio float64 `json:"kernels_ratio"`
}

// Row is the network beside the latency and the time on the engine that ours has, in ms.
func (n *Network) Row(latency, kernels float64) NetworkRow {
	return NetworkRow{*n, latency, kernels, latency / n.Ms, kernels / n.KernelsMs}
}

// Spread sums up ratios.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"min"`
	Most   float64 `json:"max"`
	// Worst is the largest factor between a ratio and 1, less 1.
	Worst float64 `json:"worst"`
}

// SpreadOf sums up sorted ratios.
func SpreadOf(sorted []float64) Spread {
	if len(sorted) == 0 {
		return Spread{}
	}
	s := Spread{Median: stat.Quantile(0.5, stat.LinInterp, sorted, nil), Least: sorted[0], Most: sorted[len(sorted)-1]}
	s.Worst = math.Max(s.Most, 1/s.Least) - 1
	return s
}
