package run

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// firstUse is the wait of an application that uses a network for the first time: until it is compiled, and until a
// phone that has been idle has the first result. Warm is each result after that.
type firstUse struct {
	CompileUS float64 `json:"compile_us"`
	Cached    int     `json:"cached_parts"` // parts loaded from --cache-dir
	FirstUS   float64 `json:"first_us"`
	WarmUS    float64 `json:"warm_us"`
}

// measureFirst executes a network that has just been compiled once, on a phone that is cold; nil where a driver does
// not report its compilation time.
func measureFirst(m *machine.Machine, c *nnrt.Compilation, form *input.Form) (*firstUse, error) {
	fs, known := c.PreparedFs()
	if !known {
		return nil, nil
	}
	m.Live.Reset()
	r, err := c.Execute(form.Inputs, nnrt.ExecuteOptions{})
	if err != nil {
		return nil, err
	}
	return &firstUse{CompileUS: cli.Microseconds(fs), Cached: c.CacheHits, FirstUS: cli.Microseconds(r.LatencyFs)}, nil
}

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
