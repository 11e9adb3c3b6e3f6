package bench

import (
	"io"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/engine"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/dsp/linux"
)

// TestStorePrograms runs the programs of the budget and counts what they stored.
func TestStorePrograms(t *testing.T) {
	a := &cli.App{SoC: "pixel4"}
	core, err := engine.OpenDSP(a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range budget {
		s := budget[i].program
		if s == nil {
			continue
		}
		image, err := s.image()
		if err != nil {
			t.Fatalf("%s: %v", budget[i].work, err)
		}
		millions, err := s.run(core, image)
		if err != nil {
			t.Fatalf("%s: %v", budget[i].work, err)
		}
		p := &linux.Process{Image: image, Stdout: io.Discard, Stderr: io.Discard}
		rep, err := core.Exec([]*linux.Process{p}, dsp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		counted := int64(0)
		for _, c := range rep.Counters {
			if c.Name == "vector_store" {
				counted = c.Value
			}
		}
		if float64(counted) != millions*1e6 || counted < stores {
			t.Errorf("%s: %v million stores, counted %d", budget[i].work, millions, counted)
		}
	}
}

// TestMedian: the median and the percentiles of values in any order.
func TestMedian(t *testing.T) {
	var r budgetRow
	r.measured([]float64{5, 1, 9, 3, 7, 2, 8, 4, 6, 10})
	if r.Measured != 5 || r.Low != 1 || r.High != 9 {
		t.Errorf("median %v, percentiles %v and %v", r.Measured, r.Low, r.High)
	}
	rows := []anchorRow{{Role: "check", Ratio: 0.5}, {Role: "input", Ratio: 9}, {Role: "check", Ratio: 2}, {Role: "check", Ratio: 7, AtMost: true}}
	if got := checkRatio(rows); got < 0.999999 || got > 1.000001 {
		t.Errorf("ratio of the checks %v, want 1", got)
	}
}
