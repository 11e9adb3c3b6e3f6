package run

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/bench/session"
)

// courses prints some samples of each run over a duration.
func (r *report) courses(w io.Writer) error {
	const rows = 12
	for i := range r.data.Runs {
		d := &r.data.Runs[i]
		if d.Invocations == nil || d.Invocations.Course == nil {
			continue
		}
		c := d.Invocations.Course
		fmt.Fprintf(w, "\n%s: %d invocations in %.4g s, %.4g J; %d executions simulated\n", d.Device, d.Invocations.Count, c.Seconds, c.EnergyJ, c.Simulated)
		if c.Shutdown != "" {
			fmt.Fprintln(w, c.Shutdown)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(t, "s\tlatency us\t")
		for _, name := range c.Clocks {
			fmt.Fprintf(t, "%s MHz\t", name)
		}
		fmt.Fprint(t, "W\t")
		for _, name := range c.Sensors {
			fmt.Fprintf(t, "%s C\t", name)
		}
		fmt.Fprintln(t, "status\t")
		n := len(c.Samples)
		for k := range min(n, rows) {
			row(c, t, &c.Samples[(k+1)*n/min(n, rows)-1])
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func row(c *session.Course, w io.Writer, s *session.CourseSample) {
	fmt.Fprintf(w, "%.4g\t", s.Seconds)
	if s.LatencyUS != nil {
		fmt.Fprintf(w, "%.1f\t", *s.LatencyUS)
	} else {
		fmt.Fprint(w, "-\t")
	}
	for _, name := range c.Clocks {
		fmt.Fprintf(w, "%.0f\t", s.ClockMHz[name])
	}
	fmt.Fprintf(w, "%.3f\t", s.TotalW)
	for _, name := range c.Sensors {
		fmt.Fprintf(w, "%.1f\t", s.TemperatureC[name])
	}
	fmt.Fprintf(w, "%s\t\n", s.Status)
}
