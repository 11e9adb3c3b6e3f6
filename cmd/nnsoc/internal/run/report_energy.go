package run

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/sim/soc"
)

// energyRow is the energy of an invocation by component of the phone.
type energyRow struct {
	name       string
	uj         float64
	components map[string]float64
}

// energies writes the energy of each run by component.
func (r *report) energies(w io.Writer) error {
	var rows []energyRow
	for i := range r.data.Runs {
		if e := &r.data.Runs[i]; len(e.EnergyComponents) > 0 {
			rows = append(rows, energyRow{e.Device, *e.EnergyUJ, e.EnergyComponents})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return writeEnergies(w, rows)
}

// writeEnergies writes rows whose components add up to their sum.
func writeEnergies(w io.Writer, rows []energyRow) error {
	var names []string
	for r := range soc.NumRails {
		name := r.String()
		if slices.ContainsFunc(rows, func(x energyRow) bool { return x.components[name] != 0 }) {
			names = append(names, name)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "energy uJ\t")
	for _, name := range names {
		fmt.Fprintf(t, "%s\t", name)
	}
	fmt.Fprintln(t, "sum\t")
	for _, x := range rows {
		fmt.Fprintf(t, "%s\t", x.name)
		for _, name := range names {
			fmt.Fprintf(t, "%.1f\t", x.components[name])
		}
		fmt.Fprintf(t, "%.1f\t\n", x.uj)
	}
	return t.Flush()
}
