package npu

import (
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// events counts the events of a run.
type events struct {
	kernels, blocks int64
	macs            int64 // as the operations define them, without padding waste
	outputs         int64
	elementwise     int64
	weightBytes     int64 // encoded, as read by the decoder
	dmaBytes        int64
	macActive       int64 // cycles in which the MAC array works
	outputActive    int64 // cycles in which the output unit works
}

// energy adds picojoules to the current region.
func (t *timer) energy(pj float64) {
	t.report.Regions[t.cur].EnergyPJ += pj
	if f := t.profile; f != nil {
		f.row(t.id(), f.word).EnergyPJ += pj
	}
}

// opEvents counts an operation and charges its arithmetic.
func (t *timer) opEvents(o *state.Op) {
	e := &t.spec.Energy
	n := int64(o.OFM.H) * int64(o.OFM.W) * int64(o.OFM.C)
	t.events.kernels++
	t.events.outputs += n
	t.energy(float64(n) * e.Output)
	if o.Kind == state.Elementwise {
		t.events.elementwise += n
		t.energy(float64(n) * e.Elementwise)
		return
	}
	macs := n * int64(o.Window.H) * int64(o.Window.W)
	if o.Reduces() {
		macs *= int64(o.IFM.C)
	}
	t.events.macs += o.MACs()
	t.energy(float64(macs) * (e.MAC*float64(o.IFM.ElemSize) + e.AccessPerMAC*e.ShramByte))
}

// chargeLocal charges the current region with the events since the last call: work of the units and bytes of each
// memory.
func (t *timer) chargeLocal() {
	g := &t.report.Regions[t.cur]
	if g.Counters == nil {
		g.Counters = append(make([]sim.Counter, 0, 2+2*len(t.mems)), sim.Counter{Name: "mac_active_cycles"}, sim.Counter{Name: "output_active_cycles"})
		for i := range t.mems {
			g.Counters = append(g.Counters, sim.Counter{Name: t.mems[i].readName}, sim.Counter{Name: t.mems[i].writeName})
		}
	}
	e, c := &t.events, g.Counters
	c[0].Value += e.macActive - t.charged.macActive
	c[1].Value += e.outputActive - t.charged.outputActive
	t.charged.macActive, t.charged.outputActive = e.macActive, e.outputActive
	for i := range t.mems {
		m := &t.mems[i]
		c[2+2*i].Value += m.readBytes - m.chargedRead
		c[3+2*i].Value += m.writeBytes - m.chargedWrite
		m.chargedRead, m.chargedWrite = m.readBytes, m.writeBytes
	}
}

// counters is the event counts in a fixed order.
func (t *timer) counters() []sim.Counter {
	e := &t.events
	c := []sim.Counter{
		{Name: "kernels", Value: e.kernels}, {Name: "blocks", Value: e.blocks}, {Name: "macs", Value: e.macs},
		{Name: "output_elements", Value: e.outputs}, {Name: "elementwise_elements", Value: e.elementwise},
		{Name: "weight_bytes", Value: e.weightBytes}, {Name: "dma_bytes", Value: e.dmaBytes},
		{Name: "mac_active_cycles", Value: e.macActive}, {Name: "output_active_cycles", Value: e.outputActive},
	}
	for i := range t.mems {
		m := &t.mems[i]
		c = append(c, sim.Counter{Name: m.readName, Value: m.readBytes},
			sim.Counter{Name: m.writeName, Value: m.writeBytes},
			sim.Counter{Name: m.spec.Name + "_read_beats", Value: m.readBeats},
			sim.Counter{Name: m.spec.Name + "_write_beats", Value: m.writeBeats})
	}
	return c
}
