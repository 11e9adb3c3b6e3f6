package gpu

import (
	"errors"
	"fmt"
	"io"
	"slices"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/cost"
	"github.com/nnsoc/nnsoc/sim"
)

// launchCycles are those of each launch in a run on zeros with cold caches.
func (p *executable) launchCycles() (map[int]int64, error) {
	list := slices.Clone(p.program.Dispatches)
	for i := range list {
		list[i].Region = i
	}
	cycles, _, err := engine.Cycles(p, &p.places, func(m *machine) (*sim.Report, error) {
		return p.dev.core.Run(&m.space, list, core.Options{State: m.state})
	})
	return cycles, err
}

// rates are the machine that launches are estimated for; the error says why they cannot be.
func (p *executable) rates() (m cost.Machine, err error) {
	if p.dev.cfg.MemoryRates == nil {
		return m, errors.New("gpu: the rates of the memory are not known")
	}
	for i := range p.program.Launches {
		if p.program.Launches[i].Work.Waves == 0 {
			return m, errors.New("gpu: a program from a compilation cache does not know what its launches do")
		}
	}
	m, err = p.dev.cfg.MemoryRates()
	m.Spec = &p.dev.cfg.Spec
	return m, err
}

// Choices implements base.Chooser.
func (p *executable) Choices() (list []hal.Choice, err error) {
	machine, err := p.rates()
	if err != nil {
		return nil, err
	}
	for i := range p.program.Launches {
		l := &p.program.Launches[i]
		if len(l.Cuts) < 2 {
			continue
		}
		c := hal.Choice{Operation: l.Op}
		for _, x := range l.Cuts {
			c.Candidates = append(c.Candidates, hal.Candidate{Name: x.Name, Cycles: cost.Estimate(&machine, x.Work).Cycles(), Chosen: x.Chosen})
		}
		list = append(list, c)
	}
	return list, nil
}

// Explain implements base.Explainer: each launch with its estimated and its simulated cycles, and
// the ways to cut it that it was chosen from.
func (p *executable) Explain(w io.Writer) error {
	machine, err := p.rates()
	if err != nil {
		return err
	}
	var rows []engine.StepCost
	for i := range p.program.Launches {
		l := &p.program.Launches[i]
		c := engine.StepCost{Operation: l.Op, Name: p.graph.NameOf(l.Op), What: l.Code.Name, Estimated: cost.Estimate(&machine, l.Work).Cycles()}
		for _, x := range l.Cuts {
			verdict := "weighs more"
			if x.Chosen {
				verdict = "chosen"
			}
			c.Choices = append(c.Choices, fmt.Sprintf("%s: weighs %.0f, %d cycles, %s", x.Name, x.Weight, cost.Estimate(&machine, x.Work).Cycles(), verdict))
		}
		rows = append(rows, c)
	}
	took, err := p.launchCycles()
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Simulated = took[i]
	}
	return engine.WriteCosts(w, rows)
}
