package soc_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestVariants: every variant is a whole file that passes the checks, has the name under which it is loaded, changes
// what its lines change, and has a source for each number.
func TestVariants(t *testing.T) {
	rows, err := os.ReadFile("../../docs/DEVIATIONS.md")
	if err != nil {
		t.Skip("skipped: needs docs/DEVIATIONS.md")
	}
	n := 0
	for _, name := range soc.Presets() {
		if soc.Base(name) == name {
			continue
		}
		n++
		text := require.V(soc.Text(name))(t)
		c, err := soc.Parse(name, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.SoC.Name != name {
			t.Errorf("%s is called %s", name, c.SoC.Name)
		}
		own := require.File(t, "variants/"+name+".txt")
		known := `D-[0-9]+`
		for _, source := range regexp.MustCompile(`(?m)^#   (\S+( \S+)?) `).FindAllStringSubmatch(string(text), -1) {
			known += "|" + regexp.QuoteMeta(source[1])
		}
		sourced := regexp.MustCompile("# .*(" + known + ")")
		for _, line := range strings.Split(string(own), "\n") {
			if regexp.MustCompile(`= (\[|-?[0-9])`).MatchString(line) && !sourced.MatchString(line) {
				t.Errorf("%s: no source: %s", name, line)
			}
			for _, id := range regexp.MustCompile(`\bD-[0-9]+\b`).FindAllString(line, -1) {
				if !regexp.MustCompile(`\b` + id + `\b`).Match(rows) {
					t.Errorf("%s: %s is not in docs/DEVIATIONS.md", name, id)
				}
			}
		}
	}
	if n < 21 || !slices.Contains(soc.Presets(), soc.Default) {
		t.Errorf("%d variants among %v", n, soc.Presets())
	}
	plain := require.V(soc.Load("corstone310-u55-128"))(t)
	kit := require.V(soc.Load("corstone300-u55-128"))(t)
	if a, b := plain.NPU.Memories[1], kit.NPU.Memories[1]; a.ReadCycles != 0 || a.BytesPerCycle != 8 || b.ReadCycles != 64 {
		t.Errorf("without adapters %+v, with %+v", a, b)
	}
	small := require.V(soc.Load("corstone300-u55-32"))(t) // a variant of a variant
	if small.NPU.ShramKiB != 16 || small.NPU.Name != "Ethos-U55-32" || soc.Base("corstone300-u55-32") != "ethos-u55-32" || soc.Base("ethos-u55-32") != "ethos-u55-128" {
		t.Errorf("Corstone-300 with Ethos-U55-32 has %+v", small.NPU)
	}
	alif := require.V(soc.Load("alif-e7-he"))(t)
	if p := alif.NPU.Clock.At(sim.FastSingleAnswer); p.Hz != 160e6 {
		t.Errorf("the high-efficiency core runs at %d Hz", p.Hz)
	}
}

// TestPhones: a phone's preset differs from the one that it is a variant of where the hardware does, and has no engine that
// nothing describes.
func TestPhones(t *testing.T) {
	for _, c := range []struct {
		preset, base  string
		gpu, dsp, npu bool
		own           string // keys of the DSP
	}{
		{"pixel3", "pixel4", true, true, false, "version contexts"}, {"rb5", "pixel4", true, true, false, "clock.opps"}, {"rb3gen2", "sd888", false, false, false, "dsp"},
	} {
		s := require.V(soc.Load(c.preset))(t)
		if (s.GPU != nil) != c.gpu || (s.DSP != nil) != c.dsp || (s.NPU != nil) != c.npu || s.CPU == nil {
			t.Errorf("%s: GPU %v, DSP %v, NPU %v", c.preset, s.GPU != nil, s.DSP != nil, s.NPU != nil)
		}
		base, own := soc.Borrowed(c.preset, "dsp")
		if base != c.base || strings.Join(own, " ") != c.own {
			t.Errorf("%s has from %s all but %q, want from %s all but %s", c.preset, base, own, c.base, c.own)
		}
	}
	if base, own := soc.Borrowed("pixel4", "dsp"); base != "" || own != nil {
		t.Errorf("a file has from %q all but %q", base, own)
	}
}
