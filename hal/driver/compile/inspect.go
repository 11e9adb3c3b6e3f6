package compile

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
)

// Chooser is an Executable that can list the candidates of its steps: see hal.Chooser.
type Chooser interface {
	Choices() ([]hal.Choice, error)
}

// Choices returns the choices of all stages that are lowered already, called subgraphs left out.
func (p *staged) Choices() (list []hal.Choice, err error) {
	for _, s := range p.stages {
		if x, ok := s.fixed.(Chooser); ok {
			more, err := x.Choices()
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	return list, nil
}

// Cascades returns the cascades of all stages that are lowered already, called subgraphs left out.
func (p *staged) Cascades() (list []hal.Cascade) {
	for _, s := range p.stages {
		if x, ok := s.fixed.(hal.Cascader); ok {
			list = append(list, x.Cascades()...)
		}
	}
	return list
}

// Explainer is an Executable that can print the estimated costs of its steps, those when it
// runs alone, and the candidates of each.
type Explainer interface {
	Explain(w io.Writer) error
}

// Explain prints the steps of all stages that are lowered already.
func (p *staged) Explain(w io.Writer) error {
	return writeLowered(p, w, "explains", Explainer.Explain)
}

// writeLowered prints something of all stages that are lowered already, those of called subgraphs among them, on devices
// whose programs are an X.
func writeLowered[X any](p *staged, w io.Writer, verb string, write func(X, io.Writer) error) error {
	for _, s := range p.stages {
		var err error
		switch {
		case s.Control:
			err = p.ofChildren(s, w, func(p *staged, w io.Writer) error { return writeLowered(p, w, verb, write) })
		case s.fixed == nil:
			_, err = fmt.Fprintf(w, "%s: lowered when parameters are known\n", s.describe())
		default:
			x, ok := s.fixed.(X)
			if !ok {
				return hal.Errorf(hal.InvalidArgument, "this device %s no steps", verb)
			}
			err = write(x, w)
		}
		if err != nil {
			return err
		}
	}
	return writeChoices(w, p.graph)
}
