package compile

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/nn"
)

// Leaves reports whether a pass expands an operation: no lowering of the user accepts it, and
// the table expands it, or names the pass as an alternative that is cheaper. price is the
// device's estimate for a graph, in cycles. Decisions by price are added to g.Choices; a query
// for support, whose result is the same either way, makes none.
func Leaves[L any](t *legal.Table[L], first []OperationLowering[L], g *graph.Graph, op *nn.Operation, pass string, price func(*graph.Graph) (int64, error)) bool {
	v := g.View()
	if Choose(first, v, op) != nil {
		return false
	}
	if t.Expands(g, v, op, pass) {
		return true
	}
	if g.Query || !t.Instead(g, v, op, pass) {
		return false
	}
	c, ok := t.Passes.Price(g, op, price)
	if !ok {
		return false
	}
	g.Choices = append(g.Choices, c)
	return c.Expands()
}

// writeChoices prints which operations were expanded because that is cheaper, and which were not.
func writeChoices(w io.Writer, g *graph.Graph) error {
	for i, c := range g.Choices {
		if i == 0 {
			if _, err := fmt.Fprintln(w, "operations with an expansion, by the estimate of each alone"); err != nil {
				return err
			}
		}
		verdict := fmt.Sprintf("expanded %d cycles", c.Expanded)
		switch {
		case c.Refusal != "":
			verdict = "the device refuses the expansion: " + c.Refusal
		case c.Expands():
			verdict += ", chosen"
		}
		own := ""
		if !c.Expands() {
			own = ", chosen"
		}
		if _, err := fmt.Fprintf(w, "%d %s: own kernel %d cycles%s; %s (%s)\n", c.Origin, c.Operation, c.Legal, own, verdict, c.Pass); err != nil {
			return err
		}
	}
	return nil
}
