package engine

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/sim"
)

// print writes the table of packets and the summary.
func (r *pipelineReport) print(w io.Writer) error {
	s := &r.Summary
	kind := "packets"
	if r.Loop {
		kind = "inner loop"
	}
	name := ""
	if r.Symbol != "" {
		name = " <" + r.Symbol + ">"
	}
	fmt.Fprintf(w, "%s: %s %#x..%#x%s, %.1f %% of the cycles of %s\n\n", r.Program, kind, r.Lo, r.Hi, name, 100*s.Share, cli.Count(r.Threads, "thread"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "cycle\tthread\taddress\tslot\tunits\tinstruction\twaits")
	for i := range r.Packets {
		p := &r.Packets[i]
		for k := range p.Instructions {
			in := &p.Instructions[k]
			head, waits := "\t\t", ""
			if k == 0 {
				head = fmt.Sprintf("%d\t%d\t%x", p.Issue, p.Thread, p.Addr)
				waits = "\t" + p.waits()
			}
			fmt.Fprintf(t, "%s\t%d\t%s\t%s%s\n", head, in.Slot, strings.Join(in.Units, "+"), in.Text, strings.TrimSuffix(waits, "\t"))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if r.Loop {
		fmt.Fprintf(w, "%s: %.2f packets and %.2f thread cycles each\n", cli.Count(s.Iterations, "iteration"), s.PacketsPerIteration, s.CyclesPerIteration)
	}
	fmt.Fprintf(w, "%s, %.2f instructions and %.1f products of vectors in each, %.1f products per thread cycle\n",
		cli.Count(s.Packets, "packet"), float64(s.Instructions)/float64(max(s.Packets, 1)), s.ProductsPerPacket, s.ProductsPerCycle)
	if s.Busy["any"] > 0 {
		fmt.Fprint(w, "busy")
		for _, name := range vectorResources {
			fmt.Fprintf(w, "  %s %.0f %%", name, 100*s.Busy[name])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "bound by %s:", s.BoundBy)
	for reason, n := range s.stalls {
		if n != 0 {
			fmt.Fprintf(w, "  %s %.1f %%", sim.Reason(reason), 100*float64(n)/float64(s.stalls.Total()))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// waits is the waits of a packet's thread, in one column.
func (p *issuedPacket) waits() string {
	var parts []string
	for _, x := range p.Waits {
		text := fmt.Sprintf("%d %s", x.Cycles, x.Reason)
		if x.For != "" {
			text += " " + x.For
		}
		if x.When == "after" {
			text = "then " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
