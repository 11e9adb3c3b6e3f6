package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteBenchmarks writes runs in Go's format of benchmark results, which benchstat reads: each run, and each operation
// of it. side distinguishes files (benchstat -col /side).
func WriteBenchmarks(w io.Writer, f *File, side string) error {
	for i := range f.Runs {
		r := &f.Runs[i]
		if !r.timed() {
			continue
		}
		at := fmt.Sprintf("/model=%s/device=%s/side=%s", word(f.Model), word(r.Device), word(side))
		if _, err := fmt.Fprintf(w, "BenchmarkRun%s 1 %.3f ns/op %.3f nJ/op\n", at, *r.LatencyUS*1e3, *r.EnergyUJ*1e3); err != nil {
			return err
		}
		for k := range r.Operations {
			o := &r.Operations[k]
			name := word(o.Type)
			if o.Index >= 0 {
				name = fmt.Sprintf("%d-%s", o.Index, name)
			}
			if _, err := fmt.Fprintf(w, "BenchmarkOperation/operation=%s%s 1 %.3f ns/op %.3f nJ/op %d cycles/op %d dram-B/op\n", name, at, o.TimeUS*1e3, o.EnergyUJ*1e3, o.Cycles, o.DRAMBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// word is a name without characters that end it in a benchmark's name.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '=' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
}
