package run

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// firstUses writes how long applications wait for a first result, and for later ones.
func (r *report) firstUses(w io.Writer) error {
	some := false
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "first use, us\tcompile\tfirst\twarm\t")
	for i := range r.data.Runs {
		if x := r.data.Runs[i].FirstUse; x != nil {
			some = true
			cached := ""
			if x.Cached > 0 {
				cached = "from the cache "
			}
			fmt.Fprintf(t, "%s\t%s%.1f\t%.1f\t%.1f\t\n", r.data.Runs[i].Device, cached, x.CompileUS, x.FirstUS, x.WarmUS)
		}
	}
	if !some {
		return nil
	}
	fmt.Fprintln(w)
	return t.Flush()
}
