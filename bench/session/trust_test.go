package session

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
)

var updateTrust = flag.Bool("update-trust", false, "write trust.txt again from docs/FIDELITY.md")

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
	if *updateTrust {
		require.NoError(t, os.WriteFile("trust.txt", []byte(strings.Join(rows, "")), 0o644))
		return
	}
	require.Same(t, strings.Join(rows, ""), trusted, "trust.txt (-update-trust writes it)")
	require.Check(t, len(rows) >= 5, "%d rows", len(rows))
}

// TestTrustSentence: engines without published latencies are not praised.
func TestTrustSentence(t *testing.T) {
	us := 1.0
	x, ok := TrustOf("pixel4", "npu")
	require.Check(t, ok && x.Checks > 0 && 0 < x.Low && x.Low <= x.High, "%+v %v", x, ok)
	r := &Report{SoC: "pixel4", Runs: []Run{{Device: "npu", LatencyUS: &us}, {Device: "dsp"}}}
	require.Check(t, strings.Contains(r.trust(), fmt.Sprintf("they give %.2f to %.2f on the npu (%d networks, fitted to them) (docs", x.Low, x.High, x.Checks)), "%s", r.trust())
	r.SoC = "ethos-u55-32"
	require.Check(t, strings.Contains(r.trust(), "no latency of a network was published"), "%s", r.trust())
}
