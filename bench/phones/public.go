package phones

import (
	_ "embed"
	"strings"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/cputimes"
	"github.com/nnsoc/nnsoc/bench/gputimes"
	"github.com/nnsoc/nnsoc/bench/zoo"
)

// published are figures beside those of packages bench, cputimes and gputimes.
//
//go:embed phones.tsv
var published []byte

// Public are the rows of all tables that the repository carries. Rows of some cores of a CPU have their simulated times.
func Public() (*Tables, error) {
	t := &Tables{}
	if err := t.read("phones.tsv", published); err != nil {
		return nil, err
	}
	for _, add := range []func(*Tables) error{(*Tables).anchors, (*Tables).gpuNetworks, (*Tables).coreSets} {
		if err := add(t); err != nil {
			return nil, err
		}
	}
	t.latest()
	return t, nil
}

// anchors adds the latencies of package bench.
func (t *Tables) anchors() error {
	for i := range bench.Latencies {
		p := &bench.Latencies[i]
		if p.SoC() != "" {
			continue // no phone
		}
		name, quant := strings.CutSuffix(p.Network, "_quant")
		f := figure{network: strings.TrimSuffix(name, "_float"), quant: quant, Row: Row{Phone: p.Phone, Engine: p.Engine, Arithmetic: "f32", Measure: Latency, Role: Check,
			PublishedMS: p.Ms, Source: p.Source}}
		if quant {
			f.Arithmetic = "i8"
		}
		if p.Kernels {
			f.Measure = Kernels
		}
		if p.Engine == "npu" {
			f.Role = Fit // of the clock (D-1740)
		}
		if err := t.add(f); err != nil {
			return err
		}
	}
	return nil
}

// gpuNetworks adds the networks in float16 of package gputimes.
func (t *Tables) gpuNetworks() error {
	list, err := gputimes.Networks()
	if err != nil {
		return err
	}
	for _, n := range list {
		for _, m := range []struct {
			measure string
			ms      float64
		}{{Latency, n.Ms}, {Kernels, n.KernelsMs}} {
			if err := t.add(figure{network: strings.TrimSuffix(n.Name, "_float"), Row: Row{Phone: "Pixel 4", Engine: "gpu", Arithmetic: "f16", Measure: m.measure, Role: Check,
				PublishedMS: m.ms, Source: qed}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// coreSets adds the rows of package cputimes, which prices its own definitions of the networks.
func (t *Tables) coreSets() error {
	rows, err := cputimes.Networks()
	if err != nil {
		return err
	}
	for _, c := range rows {
		phone := map[string]string{"a75-9820": "Galaxy S10", "a75-710": "Mi 8 SE"}[c.Cores]
		if phone == "" {
			phone = "Pixel 4"
		}
		r := Row{Phone: phone, Engine: "cpu", Cores: c.Cores, Arithmetic: c.Type, Measure: Latency, Role: c.Role, PublishedMS: c.Ms, Source: qed}
		base := architectures()[plain(c.What)]
		n, ok := zoo.Find(base + form(false)) // the zoo does not have all of them in 8 bits
		if !ok {
			t.LeaveOut(c.What, "the zoo has no %s", c.What)
			continue
		}
		r.Network = base + form(c.Type == "i8")
		if r.Class, err = t.class(n); err != nil {
			return err
		}
		r.Simulated(c.Ours)
		t.Rows = append(t.Rows, r)
	}
	return nil
}
