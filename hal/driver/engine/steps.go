package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/hal"
)

// Plan is how a program was planned.
type Plan struct {
	Steps  []Step
	Cycles func() ([]int64, error) // of each of Steps, from a run on zeros with cold caches
	Notes  string                  // lines that Explain prints below its table
}

// Step is a step of a program and what it was chosen from.
type Step struct {
	Operation  int // a negative one is no operation of the model
	What       string
	Estimated  int64 // cycles
	Uncertain  bool  // the estimate does not know how often a loop runs
	Candidates []Candidate
	Most       int // of the candidates, the first that Explain prints; 0: all
}

// Candidate is a way to compute a step that was compared with others.
type Candidate struct {
	hal.Candidate
	Measure    string // what they were compared by, if not by cycles alone
	Verdict    string // why it was not chosen
	Impossible bool   // it cannot be requested
}

// String is a candidate as Explain prints it.
func (c *Candidate) String() string {
	text := fmt.Sprintf("%s: %d cycles", c.Name, c.Cycles)
	if c.Measure != "" {
		text += ", " + c.Measure
	}
	if c.Chosen {
		return text + ", chosen"
	}
	return text + ", " + c.Verdict
}

// errLoaded is the reason why a program has no plan.
var errLoaded = errors.New("a program from a compilation cache has no steps")

// WriteSteps implements compile.StepWriter.
func (x *Executable[M]) WriteSteps(w io.Writer) error {
	if x.loaded {
		return errLoaded
	}
	return x.program.Steps(w)
}

// Choices implements compile.Chooser: the steps with several candidates.
func (x *Executable[M]) Choices() (list []hal.Choice, err error) {
	if x.loaded {
		return nil, errLoaded
	}
	p, err := x.program.Plan()
	if err != nil {
		return nil, err
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		c := hal.Choice{Operation: s.Operation}
		for _, y := range s.Candidates {
			if !y.Impossible {
				c.Candidates = append(c.Candidates, y.Candidate)
			}
		}
		if len(c.Candidates) > 1 {
			list = append(list, c)
		}
	}
	return list, nil
}

// Explain implements compile.Explainer: steps with the ratio of estimated and simulated cycles, the sum, and
// below each step the candidates that were compared.
func (x *Executable[M]) Explain(w io.Writer) error {
	if x.loaded {
		return errLoaded
	}
	p, err := x.program.Plan()
	if err != nil {
		return err
	}
	cycles, err := p.Cycles()
	if err != nil {
		return err
	}
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "operation\tstep\testimated\tsimulated\tratio")
	row := func(label, what, mark string, estimated, simulated int64) {
		fmt.Fprintf(t, "%s\t%s\t%s%d\t%d\t%.2f\n", label, what, mark, estimated, simulated, float64(estimated)/float64(max(simulated, 1)))
	}
	var estimated, simulated int64
	for i := range p.Steps {
		s := &p.Steps[i]
		name, mark := "in or out", ""
		if s.Operation >= 0 {
			name = x.Graph.NameOf(s.Operation)
		}
		if s.Uncertain {
			mark = "~"
		}
		row(fmt.Sprintf("%d %s", s.Operation, name), s.What, mark, s.Estimated, cycles[i])
		estimated, simulated = estimated+s.Estimated, simulated+cycles[i]
	}
	row("all", "", "", estimated, simulated)
	if err := t.Flush(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for i, line := range strings.SplitAfter(table.String(), "\n") {
		out.WriteString(line)
		if at := i - 1; at >= 0 && at < len(p.Steps) {
			p.Steps[at].writeCandidates(out)
		}
	}
	out.WriteString(p.Notes)
	return out.Flush()
}

// writeCandidates prints the candidates of a step, if there were several.
func (s *Step) writeCandidates(w io.Writer) {
	list := s.Candidates
	if len(list) < 2 {
		return
	}
	if s.Most > 0 {
		list = list[:min(s.Most, len(list))]
	}
	for i := range list {
		fmt.Fprintf(w, "    %s\n", &list[i])
	}
}
