package base

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
)

// Loader is a Lowering whose programs can be saved: its Executables are Savers. Base
// saves everything else, so a device needs nothing else for a compilation cache.
type Loader interface {
	Lowering
	// Load returns the program that Save has written for the same graph. What it reads
	// may be forged: every address and size must be checked.
	Load(g *graph.Graph, r *cache.Reader) (Executable, error)
}

// Saver is an Executable that can be saved.
type Saver interface {
	// Save writes all that Load needs: code with Bytes, constants with Constants.
	Save(w *cache.Writer)
}

// ProgramBytes is about how much memory the program keeps, which a service counts against the quota of its client.
func (p *prepared) ProgramBytes() (n int64) {
	s, ok := p.program.(*staged)
	if !ok {
		return 0
	}
	for _, st := range s.stages {
		if st.fixed != nil {
			n += int64(st.fixed.Bytes())
		}
	}
	return n
}

// loader is the lowering behind a compiler that can load programs.
func (d *Device) loader() (Loader, bool) {
	c, ok := d.compiler.(compiler)
	if !ok {
		return nil, false
	}
	l, ok := c.Lowering.(Loader)
	return l, ok
}

// NumberOfCacheFilesNeeded implements hal.Device.
func (d *Device) NumberOfCacheFilesNeeded() (model, data int) {
	if _, ok := d.loader(); !ok {
		return 0, 0
	}
	return cache.ModelFiles, cache.DataFiles
}

// identity is what a compiled program depends on besides the model.
func (d *Device) identity() string {
	return d.cfg.Name + "\x00" + d.cfg.Version + "\x00" + d.cfg.Identity
}

// save writes a prepared model to a cache. A model whose inputs have open shapes is not
// saved: it has no program yet.
func (p *prepared) save(c *hal.Cache) error {
	s, ok := p.program.(*staged)
	if _, loads := p.device.loader(); !ok || !loads {
		return hal.Errorf(hal.GeneralFailure, "nothing to save")
	}
	w := &cache.Writer{}
	weights := !s.complete()
	w.Int(int64(p.options.Preference))
	w.Int(int64(p.options.Priority))
	w.Model(p.original, weights)
	w.Subgraph(&s.graph.Subgraph, weights)
	for _, o := range s.graph.Origin {
		w.Int(int64(o))
	}
	for _, st := range s.stages {
		w.Bool(st.fixed != nil)
		if st.fixed == nil {
			continue
		}
		x, ok := st.fixed.(Saver)
		if !ok {
			return hal.Errorf(hal.GeneralFailure, "%T cannot be saved", st.fixed)
		}
		x.Save(w)
	}
	return cache.Save(c, p.device.identity(), w)
}

// complete reports whether the programs at hand are all that executions need: no stage
// waits for parameters, and no input can be left out.
func (p *staged) complete() bool {
	for _, s := range p.stages {
		if s.fixed == nil {
			return false
		}
	}
	for k, x := range p.model.Main.Inputs {
		m := *p.model
		m.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
		m.Main.Operands[x].Lifetime = nn.NoValue
		m.Main.Inputs = append(append([]uint32(nil), m.Main.Inputs[:k]...), m.Main.Inputs[k+1:]...)
		if validate.ModelOf(p.graph.Table, &m) == nil {
			return false
		}
	}
	return true
}

// PrepareModelFromCache implements hal.Device.
func (d *Device) PrepareModelFromCache(deadline *hal.TimePoint, c hal.Cache) (p hal.PreparedModel, err error) {
	defer hal.Contain(&err, d.cfg.Name, "PrepareModelFromCache")
	l, ok := d.loader()
	if !ok {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: there is no compilation cache", d.cfg.Name)
	}
	if err := cache.Check(&c); err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%s driver: %w", d.cfg.Name, err)
	}
	if err := d.missed(deadline); err != nil {
		return nil, err
	}
	r, err := cache.Load(&c, d.identity())
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: %w", d.cfg.Name, err)
	}
	loaded, err := d.load(l, r)
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%s driver: %w", d.cfg.Name, err)
	}
	d.Log(vlog.Driver, "prepareModelFromCache: %d operations", len(loaded.original.Main.Operations))
	if err := d.prepareUntil(loaded, int64(compilers[d.cfg.Type].call)*1e6+cacheFs(&c, loadNsPerByte), deadline); err != nil {
		return nil, err
	}
	return loaded, nil
}

// load restores a prepared model from the file that save has written.
func (d *Device) load(l Loader, r *cache.Reader) (*prepared, error) {
	o := hal.PrepareOptions{
		Preference: hal.Preference(r.IntIn(int64(hal.LowPower), int64(hal.SustainedSpeed))),
		Priority:   hal.Priority(r.IntIn(int64(hal.PriorityLow), int64(hal.PriorityHigh))),
	}
	given, canonical := r.Model(), r.Subgraph()
	origin := make([]int, len(canonical.Operations))
	for i := range origin {
		origin[i] = r.IntIn(0, int64(len(given.Main.Operations))-1)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := validate.ModelOf(d.cfg.Operations, given); err != nil {
		return nil, err
	}
	m, err := d.resolved(given)
	if err != nil {
		return nil, err
	}
	g := graph.New(m)
	g.Table = d.cfg.Operations
	g.Subgraph, g.Origin = canonical, origin
	if err := g.Check(); err != nil {
		return nil, err
	}
	parts, err := g.Stages()
	if err != nil {
		return nil, err
	}
	p := &staged{lowering: l, options: o, model: m, graph: g}
	c := d.compiler.(compiler)
	if err := c.compileCalled(p, parts); err != nil {
		return nil, err
	}
	for _, s := range parts {
		st := &stage{Stage: s}
		if r.Bool() {
			g, err := s.Bind(nil, nil)
			if err == nil {
				st.fixed, err = l.Load(g, r)
			}
			if err != nil {
				return nil, err
			}
		}
		p.stages = append(p.stages, st)
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return &prepared{device: d, original: given, model: m, options: o, program: p}, nil
}
