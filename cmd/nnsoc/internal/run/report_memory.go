package run

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// memory writes each device's use of the shared memory.
func (r *report) memory(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	rows := 0
	for i := range r.data.Runs {
		for _, d := range r.data.Runs[i].Devices {
			m := d.Memory
			if m == nil {
				continue
			}
			if rows++; rows == 1 {
				fmt.Fprintln(t, "\nmemory\tread KB\twritten KB\trow hits\twait ns\tsystem cache\tevents uJ\trefresh uJ\tbackground uJ\t")
			}
			cache, rowHits, wait := "-", "-", "-"
			if m.Bursts > 0 {
				rowHits, wait = fmt.Sprintf("%.1f %%", percent(m.RowHits, m.Bursts)), fmt.Sprintf("%.1f", m.WaitNS)
			}
			if c := m.SystemCache; c != nil {
				cache = fmt.Sprintf("%.1f %%", percent(c.Hits, c.Hits+c.Misses))
			}
			fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%.1f\t%.1f\t%.1f\t\n", d.Device, m.ReadBytes/1000, m.WriteBytes/1000,
				rowHits, wait, cache, m.EventsUJ, m.RefreshUJ, m.BackgroundUJ)
		}
	}
	return t.Flush()
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(max(of, 1)) }
