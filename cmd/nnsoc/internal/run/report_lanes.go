package run

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// lanes writes how the operations on a SIMT engine used it: resident waves of the possible ones, active lanes of those
// of the instructions on lanes, floating-point operations per second and their share of the roofline, and bytes per
// level. An engine that does not count these has no table.
func (r *report) lanes(w io.Writer, rows []nnrt.OperationCost) error {
	roofs := session.Roofs(r.machine.Config, false)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := false
	for i := range rows {
		o := &rows[i]
		n := session.Counted(o.Counters)
		if n["lane_slots"] == 0 || o.TimeFs == 0 {
			continue
		}
		if !header {
			fmt.Fprintln(t, "\n#\toperation\toccupancy\tlanes\tGFLOP/s\tof roof\tLDS KB\tL0 KB\tL2 KB\tDRAM KB\t")
			header = true
		}
		seconds := float64(o.TimeFs) / 1e15
		rate := float64(n["flops"]) / seconds
		share := "-"
		if roof, ok := roofs[o.Device]; ok && n["flops"] > 0 {
			most := 2 * roof.MACsPerS
			if o.DRAMBytes > 0 {
				most = min(most, float64(n["flops"])/float64(o.DRAMBytes)*roof.BytesPerS)
			}
			share = fmt.Sprintf("%.1f %%", 100*rate/most)
		}
		fmt.Fprintf(t, "%d\t%s\t%.1f %%\t%.1f %%\t%.1f\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t\n", o.Index, o.Name(),
			100*float64(n["wave_cycles"])/float64(max(n["wave_slots"], 1)), 100*float64(n["lanes"])/float64(n["lane_slots"]),
			rate/1e9, share, float64(n["lds_bytes"])/1e3, float64(n["l0_bytes"])/1e3, float64(n["l2_bytes"])/1e3, float64(o.DRAMBytes)/1e3)
	}
	return t.Flush()
}
