package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// StepCost is a step of a program as Explain prints it.
type StepCost struct {
	Operation            int
	Name                 string // of the operation
	What                 string // the step
	Estimated, Simulated int64  // cycles
	Guess                bool   // the estimate does not know how often a loop runs
	Choices              []string
}

// WriteCosts prints steps with the ratio of estimated and simulated cycles, the sum, and below
// each step the candidates that were compared.
func WriteCosts(w io.Writer, rows []StepCost) error {
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "operation\tstep\testimated\tsimulated\tratio")
	row := func(label string, c *StepCost) {
		mark := ""
		if c.Guess {
			mark = "~"
		}
		fmt.Fprintf(t, "%s\t%s\t%s%d\t%d\t%.2f\n", label, c.What, mark, c.Estimated, c.Simulated, float64(c.Estimated)/float64(max(c.Simulated, 1)))
	}
	var sum StepCost
	for i := range rows {
		c := &rows[i]
		row(fmt.Sprintf("%d %s", c.Operation, c.Name), c)
		sum.Estimated, sum.Simulated = sum.Estimated+c.Estimated, sum.Simulated+c.Simulated
	}
	row("all", &sum)
	if err := t.Flush(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for i, line := range strings.SplitAfter(table.String(), "\n") {
		out.WriteString(line)
		if at := i - 1; at >= 0 && at < len(rows) {
			for _, text := range rows[at].Choices {
				fmt.Fprintf(out, "    %s\n", text)
			}
		}
	}
	return out.Flush()
}
