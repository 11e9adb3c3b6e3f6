package session

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/phones"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

var updateTrust = flag.Bool("update-trust", false, "write trust.txt again from docs/FIDELITY.md, assumed.txt from docs/DEVIATIONS.md")

// TestTrust holds trust.txt to the checks of docs/FIDELITY.md.
func TestTrust(t *testing.T) {
	const page = "../../docs/FIDELITY.md"
	var rows []string
	for _, table := range []struct{ soc, part string }{{"pixel4", "phone"}, {"coral", "part"}} {
		of := map[string]*Trust{}
		var order []string
		for _, c := range doctable.Rows(t, page, "| engine | network | "+table.part+" | measure | role | published ms | ours | ratio | execution | in a burst | verdict (tolerance) |") {
			if c[4] != "check" && c[4] != "fit" {
				continue
			}
			ratio := require.V(strconv.ParseFloat(c[7], 64))(t)
			if of[c[0]] == nil {
				of[c[0]] = &Trust{Low: math.Inf(1)}
				order = append(order, c[0])
			}
			x := of[c[0]]
			switch fitted := c[4] == "fit"; {
			case x.Checks == 0 || x.Fitted && !fitted: // a check counts more than any fitted row
				*x = Trust{Low: math.Inf(1), Fitted: fitted}
			case fitted && !x.Fitted:
				continue
			}
			x.Checks, x.Low, x.High = x.Checks+1, min(x.Low, ratio), max(x.High, ratio)
		}
		for _, engine := range order {
			role := "check"
			if of[engine].Fitted {
				role = "fit"
			}
			rows = append(rows, fmt.Sprintf("%s %s %d %.2f %.2f %s\n", table.soc, engine, of[engine].Checks, of[engine].Low, of[engine].High, role))
		}
	}
	libraries := map[string]string{}
	for _, r := range require.V(phones.Public())(t).Rows {
		if r.Engine == "cpu" && r.Library != "" {
			libraries[r.SoC] = r.Library
		}
	}
	for _, c := range doctable.Rows(t, page, "| engine | measure | rows of | rows | median of ours / published | within 10 % | within 20 % | least to largest |") {
		preset, low, high := phones.Preset(c[2]), 0.0, 0.0
		if preset == "" || preset == "pixel4" || c[1] != "latency" {
			continue
		}
		require.V(fmt.Sscanf(c[7], "%f to %f", &low, &high))(t)
		role := "check"
		if c[0] == "cpu" {
			role = cmp.Or(libraries[preset], role)
		}
		rows = append(rows, fmt.Sprintf("%s %s %s %.2f %.2f %s\n", preset, c[0], c[3], low, high, role))
	}
	if *updateTrust {
		require.NoError(t, os.WriteFile("trust.txt", []byte(strings.Join(rows, "")), 0o644))
		return
	}
	require.Same(t, strings.Join(rows, ""), trusted, "trust.txt (-update-trust writes it)")
	require.Check(t, len(rows) >= 5, "%d rows", len(rows))
}

// TestAssumption: the effects of assumed numbers are those of the page, and were measured with as many as there are.
func TestAssumption(t *testing.T) {
	var rows []string
	for _, c := range doctable.Rows(t, "../../docs/DEVIATIONS.md", "| preset | engine | network | assumed numbers | latency % | most by | energy % | most by |") {
		row := strings.NewReplacer(" to ", " ", "`", "").Replace(strings.Join(slices.Delete(c, 2, 3), " "))
		rows = append(rows, row+"\n")
	}
	if *updateTrust {
		require.NoError(t, os.WriteFile("assumed.txt", []byte(strings.Join(rows, "")), 0o644))
		return
	}
	require.Same(t, strings.Join(rows, ""), assumptions, "assumed.txt (-update-trust writes it)")
	for _, row := range rows {
		preset, rest, _ := strings.Cut(row, " ")
		engine, _, _ := strings.Cut(rest, " ")
		a, ok := AssumptionOf(preset, engine)
		l, e := &a.Latency, &a.Energy
		require.Check(t, ok && l.Low <= 0 && 0 <= l.High && e.Low <= 0 && 0 <= e.High, "%s: %+v", engine, a)
		n, known := 0, 0
		keys := require.V(soc.Keys(preset))(t)
		for i := range keys {
			k := &keys[i]
			section, _, _ := strings.Cut(k.Path, ".")
			if k.Assumed() && (section == engine || !slices.Contains([]string{"gpu", "dsp", "npu"}, section)) {
				n++
				if k.Path == l.Key || k.Path == e.Key {
					known++
				}
			}
		}
		require.Same(t, n, a.Keys, "assumed numbers of", preset, "that concern the", engine, "(nnsoc sensitivity --assumed, then the table of docs/DEVIATIONS.md)")
		require.Check(t, known > 0, "%s: neither %s nor %s is assumed", engine, l.Key, e.Key)
	}
	for _, preset := range soc.Presets() { // every engine of every preset is known, by itself or by what it is a variant of
		c := require.V(soc.Load(preset))(t)
		for engine, has := range map[string]bool{"cpu": true, "gpu": c.GPU != nil, "dsp": c.DSP != nil, "npu": c.NPU != nil} {
			_, _, ok := (&Report{SoC: preset}).assumption(engine)
			require.Check(t, ok || !has, "nothing is known of the %s of %s", engine, preset)
		}
	}
	us := 1.0
	r := &Report{SoC: "pixel4"}
	npu := &Run{Device: "npu", LatencyUS: &us}
	a, _ := AssumptionOf("pixel4", "npu")
	want := fmt.Sprintf("latency by %+.1f to %+.1f %% on the npu (%s), its energy by %+.1f", a.Latency.Low, a.Latency.High, a.Latency.Key, a.Energy.Low)
	require.Check(t, strings.Contains(r.unsourced(npu), want), "%s", r.unsourced(npu))
	r.SoC = "ethos-u55-32"
	require.Check(t, strings.Contains(r.unsourced(npu), " on the npu of ethos-u55-128 ("), "%s", r.unsourced(npu))
	r.SoC = "a machine of one's own"
	require.Same(t, "", r.unsourced(npu))
}

// TestTrustSentence: engines without published latencies are not praised.
func TestTrustSentence(t *testing.T) {
	us := 1.0
	x, ok := TrustOf("pixel4", "npu")
	require.Check(t, ok && x.Checks > 0 && 0 < x.Low && x.Low <= x.High, "%+v %v", x, ok)
	r := &Report{SoC: "pixel4", Runs: []Run{{Device: "npu", LatencyUS: &us}, {Device: "dsp"}}}
	require.Check(t, strings.Contains(r.trust(), fmt.Sprintf("they give %.2f to %.2f on the npu (%d networks, fitted to them) (docs", x.Low, x.High, x.Checks)), "%s", r.trust())
	r.SoC, r.Runs = "rb5", []Run{{Device: "dsp", LatencyUS: &us}}
	x, ok = TrustOf("rb5", "dsp")
	require.Check(t, ok && strings.Contains(r.trust(), fmt.Sprintf("they give %.2f to %.2f on the dsp (%d networks) (docs", x.Low, x.High, x.Checks)), "%s", r.trust())
	r.Runs = []Run{{Device: "cpu", LatencyUS: &us}}
	require.Check(t, strings.Contains(r.trust(), "on the cpu (6 networks, with cpu.library onnxruntime) (docs"), "%s", r.trust())
	r.SoC = "ethos-u55-32"
	require.Check(t, strings.Contains(r.trust(), "no latency of a network was published"), "%s", r.trust())
}
