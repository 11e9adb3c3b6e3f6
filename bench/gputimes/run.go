package gputimes

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Row is a measured kernel beside ours.
type Row struct {
	Kernel
	Class string  `json:"kernel_class"`
	Ours  float64 `json:"simulated_us"`
	Ratio float64 `json:"ratio"` // ours / published
}

// Group sums up the rows of a class.
type Group struct {
	Class  string  `json:"kernel_class"`
	Rows   int     `json:"row_count"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"`          // a tenth is below
	High   float64 `json:"high"`         // a tenth is above
	Within float64 `json:"within_share"` // share of the ratios between 2/3 and 3/2
}

// Run measures kernels on the GPU of a SoC at its top clocks, once each with caches as they are in
// the middle of a network: inputs have just been written, weights are in DRAM. done is called after each.
func Run(c *soc.Config, list []Kernel, done func()) ([]Row, error) {
	m, err := devices.NewMachine(c, hal.SustainedSpeed)
	if err != nil {
		return nil, err
	}
	top := int64(0)
	for _, p := range c.GPU.Clock.OPPs {
		top = max(top, int64(math.Round(p.MHz*1e6)))
	}
	if err := m.PinClock("gpu", top); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(m.Devices(), func(d hal.Device) bool { return d.Name() == "gpu" })
	if i < 0 {
		return nil, fmt.Errorf("%s has no GPU", c.SoC.Name)
	}
	var rows []Row
	for _, k := range list {
		r := Row{Kernel: k, Class: k.Class()}
		if r.Ours, err = measure(m, m.Devices()[i], &k); err != nil {
			return nil, fmt.Errorf("%+v: %w", k, err)
		}
		r.Ratio = r.Ours / r.Us
		rows = append(rows, r)
		done()
	}
	return rows, nil
}

// measured is the operation of a model that counts.
const measured = 1

// measure is the time that the kernels of one operation execute, in microseconds.
func measure(m *devices.Machine, d hal.Device, k *Kernel) (us float64, err error) {
	model := k.model()
	if model == nil {
		return 0, fmt.Errorf("no operation %q", k.Operation)
	}
	p, err := d.PrepareModel(model, hal.PrepareOptions{Preference: hal.SustainedSpeed})
	if err != nil {
		return 0, err
	}
	g := &model.Main
	b := &hal.Buffers{Inputs: [][]byte{make([]byte, g.Operands[g.Inputs[0]].Bytes())}, Outputs: [][]byte{make([]byte, g.Operands[g.Outputs[0]].Bytes())}}
	m.Reset()
	res, err := hal.Execute(p, b)
	if err != nil {
		return 0, err
	}
	for i := range res.Stats.Operations {
		if o := &res.Stats.Operations[i]; o.Index == measured {
			us += float64(o.TimeFs) / 1e9
		}
	}
	return us, nil
}

// Groups sums up rows by class, and all of them.
func Groups(rows []Row) []Group {
	ratios := map[string][]float64{}
	for _, r := range rows {
		ratios[r.Class] = append(ratios[r.Class], r.Ratio)
		ratios["all"] = append(ratios["all"], r.Ratio)
	}
	var list []Group
	for _, class := range slices.Sorted(maps.Keys(ratios)) {
		x := ratios[class]
		slices.Sort(x)
		g := Group{Class: class, Rows: len(x), Median: stat.Quantile(0.5, stat.LinInterp, x, nil), Low: stat.Quantile(0.1, stat.LinInterp, x, nil), High: stat.Quantile(0.9, stat.LinInterp, x, nil)}
		for _, r := range x {
			if r >= 2./3 && r <= 1.5 {
				g.Within += 1 / float64(len(x))
			}
		}
		list = append(list, g)
	}
	slices.SortStableFunc(list, func(x, y Group) int { return cmp.Compare(y.Rows, x.Rows) })
	return list
}
