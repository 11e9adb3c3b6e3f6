package partition

import (
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/bench/glossary"
)

// dot writes the plan of the strategy with the best simulated objective: a box
// per part, operations within, an edge per tensor with its bytes.
func (r *PartitionReport) dot(out io.Writer) error {
	best := r.Strategies[0]
	for _, e := range r.Strategies {
		if e.score < best.score {
			best = e
		}
	}
	p := best.problem
	us, uj := best.PredictedLatencyUS, best.PredictedEnergyUJ
	if best.Simulated {
		us, uj = best.SimulatedLatencyUS, best.EnergyUJ
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  label=%q; node [shape=box, style=filled];\n", r.Model,
		fmt.Sprintf("%s, strategy %s: %.1f us, %.1f uJ", r.Model, best.Name, us, uj))
	for k, s := range best.steps {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%q;\n", k, fmt.Sprintf("part %d on %s", k, p.DeviceName(s.Device)))
		fill, ink := glossary.Device(p.DeviceName(s.Device))
		for _, i := range s.Operations {
			fmt.Fprintf(&b, "    o%d [label=%q, fillcolor=%q, fontcolor=%q];\n", i, fmt.Sprintf("%d %s", i, p.Graph.Operations[i].Type), fill, ink)
		}
		b.WriteString("  }\n")
	}
	for v := range p.Graph.Values {
		x := &p.Graph.Values[v]
		from := fmt.Sprintf("o%d", x.Producer)
		if x.Producer < 0 {
			from = fmt.Sprintf("in%d", v)
			fmt.Fprintf(&b, "  %s [label=\"input\", style=rounded];\n", from)
		}
		for _, u := range x.Consumers {
			style := ""
			if x.Producer >= 0 && best.plan.Device[x.Producer] != best.plan.Device[u] {
				style = ", style=bold"
			}
			fmt.Fprintf(&b, "  %s -> o%d [label=\"%d B\"%s];\n", from, u, x.Bytes, style)
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(out, b.String())
	return err
}
