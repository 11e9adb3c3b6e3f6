package base

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
)

// Loader is a Compiler whose programs can be saved: its Programs are Savers.
type Loader interface {
	Compiler
	// Loads reports whether it can load programs at all.
	Loads() bool
	// Load returns the program that Save has written for the same model. What it reads may be forged: every address and
	// size must be checked.
	Load(m *nn.Model, o hal.PrepareOptions, r *cache.Reader) (Program, error)
}

// Saver is a Program that can be saved.
type Saver interface {
	// Complete reports whether Save writes all that executions need, so that the weights of the model need not be kept.
	Complete() bool
	Save(w *cache.Writer) error
}

// Sized is a Program that knows its size.
type Sized interface {
	// Size is the operations of the canonical graphs and the bytes of the programs, those of called subgraphs among them.
	Size() (operations, program int)
	// Bytes is about how much memory the program keeps, without those of called subgraphs.
	Bytes() int
}

// ProgramBytes is about how much memory the program keeps, which a service counts against the quota of its client.
func (p *prepared) ProgramBytes() (n int64) {
	if s, ok := p.program.(interface{ Bytes() int }); ok {
		n = int64(s.Bytes())
	}
	if s := p.shaped.Load(); s != nil {
		n += int64(s.Bytes())
	}
	return n
}

// loader is the compiler, if it can load programs.
func (d *Device) loader() (Loader, bool) {
	l, ok := d.compiler.(Loader)
	return l, ok && l.Loads()
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
	s, ok := p.program.(Saver)
	if _, loads := p.device.loader(); !ok || !loads {
		return hal.Errorf(hal.GeneralFailure, "nothing to save")
	}
	w := &cache.Writer{}
	w.Int(int64(p.options.Preference))
	w.Int(int64(p.options.Priority))
	w.Model(p.original, !s.Complete())
	if err := s.Save(w); err != nil {
		return err
	}
	return cache.Save(c, p.device.identity(), w)
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
	given := r.Model()
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
	p, err := l.Load(m, o, r)
	if err != nil {
		return nil, err
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return &prepared{device: d, original: given, model: m, options: o, program: p}, nil
}
