package base

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
)

// Explainer is an Executable that can say what its steps were estimated to take when it was
// compiled, what they take when it runs alone, and which candidates it was chosen from.
type Explainer interface {
	Explain(w io.Writer) error
}

// Explain prints what the steps of the program take, if the device can (Explainer).
func (p *prepared) Explain(w io.Writer) (err error) {
	defer hal.Contain(&err, p.device.cfg.Name, "Explain")
	x, ok := p.program.(Explainer)
	if !ok {
		return hal.Errorf(hal.InvalidArgument, "this device explains no steps")
	}
	return x.Explain(w)
}

// Explain prints the steps of all stages that are lowered already.
func (p *staged) Explain(w io.Writer) error {
	return p.writeLowered(w, func(e Executable, w io.Writer) error {
		x, ok := e.(Explainer)
		if !ok {
			return hal.Errorf(hal.InvalidArgument, "this device explains no steps")
		}
		return x.Explain(w)
	})
}

// writeLowered prints something of all stages that are lowered already, those of called subgraphs among them.
func (p *staged) writeLowered(w io.Writer, write func(Executable, io.Writer) error) error {
	for _, s := range p.stages {
		var err error
		switch {
		case s.Control:
			err = p.ofChildren(s, w, func(p *staged, w io.Writer) error { return p.writeLowered(w, write) })
		case s.fixed == nil:
			_, err = fmt.Fprintf(w, "%s: lowered when parameters are known\n", s.describe())
		default:
			err = write(s.fixed, w)
		}
		if err != nil {
			return err
		}
	}
	return writeChoices(w, p.graph)
}
