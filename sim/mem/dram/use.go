package dram

import "github.com/nnsoc/nnsoc/sim"

// MaxMasters bounds the masters of a bus that are distinguished.
const MaxMasters = 16

// Use is the use that a master of the bus has made of a DRAM since Reset, without writes that still wait in the
// controller.
type Use struct {
	ReadBursts, WriteBursts int64
	RowHits                 int64 // bursts that found their row open
	Activates               int64 // rows opened for it
	// Wait is the time of all its read bursts in the controller, from their arrival to
	// the column command.
	Wait sim.Time
}

// clockedUse is a Use in clocks.
type clockedUse struct{ reads, writes, hits, activates, wait int64 }

// Use returns what a master has used.
func (d *DRAM) Use(master int) Use {
	master = min(master, MaxMasters-1)
	u := &d.use[master]
	return Use{u.reads, u.writes, u.hits, u.activates, d.waited[master] + d.clock.span(u.wait)}
}

// PJ is the energy of a master's bursts and activates, including those of its writes that still wait.
func (d *DRAM) PJ(master int) float64 {
	u := d.use[min(master, MaxMasters-1)]
	for i := range d.ch {
		for j := range d.ch[i].buffer.writes {
			if w := &d.ch[i].buffer.writes[j]; w.Master == master {
				u.writes += w.n
			}
		}
	}
	e := &d.cfg.Energy
	return float64(float64(u.activates)*e.ActivatePJ) + float64(float64(u.reads)*e.ReadBurstPJ) + float64(float64(u.writes)*e.WriteBurstPJ)
}
