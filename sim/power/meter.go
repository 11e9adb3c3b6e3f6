package power

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/nnsoc/nnsoc/sim"
)

// Parse orders a table name -> pJ by names. A name without a row, a row without
// a name and a value that is not a finite number >= 0 are errors; all are
// reported at once, in the order of names and then of the alphabet.
func Parse(names []string, table map[string]float64) ([]float64, error) {
	pj := make([]float64, len(names))
	known := make(map[string]bool, len(names))
	var missing, bad, extra []string
	for i, n := range names {
		known[n] = true
		v, ok := table[n]
		switch {
		case !ok:
			missing = append(missing, n)
		case !(v >= 0) || math.IsInf(v, 0):
			bad = append(bad, fmt.Sprintf("%s = %v", n, v))
		}
		pj[i] = v
	}
	for n := range table {
		if !known[n] {
			extra = append(extra, n)
		}
	}
	sort.Strings(extra)
	var msg []string
	if missing != nil {
		msg = append(msg, "no energy for "+strings.Join(missing, ", "))
	}
	if bad != nil {
		msg = append(msg, "not an energy: "+strings.Join(bad, ", "))
	}
	if extra != nil {
		msg = append(msg, "unknown event "+strings.Join(extra, ", ")+" (known: "+strings.Join(names, ", ")+")")
	}
	if msg != nil {
		return nil, fmt.Errorf("power: %s", strings.Join(msg, "; "))
	}
	return pj, nil
}

// Meter adds up the energy of one component. Counting costs one addition.
type Meter struct {
	names  []string
	pj     []float64 // at vref
	vref   float64
	scale  float64 // (V/Vref)^2 since the last SetVoltage
	count  []int64 // since the last SetVoltage
	total  []int64 // before it
	folded float64 // pJ before it
}

// NewMeter builds a meter whose event i is names[i]; vref is the voltage, in
// volts, at which the table holds.
func NewMeter(names []string, table map[string]float64, vref float64) (*Meter, error) {
	pj, err := Parse(names, table)
	if err != nil {
		return nil, err
	}
	if !(vref > 0 && vref < 10) {
		return nil, fmt.Errorf("power: reference voltage %v V, want more than 0 and less than 10", vref)
	}
	return &Meter{
		names: names, pj: pj, vref: vref, scale: 1,
		count: make([]int64, len(names)), total: make([]int64, len(names)),
	}, nil
}

// Add counts n events.
func (m *Meter) Add(event int, n int64) { m.count[event] += n }

// SetVoltage makes the events from here on cost (v/vref)^2 of the table.
func (m *Meter) SetVoltage(v float64) {
	m.folded += m.open()
	for i, n := range m.count {
		m.total[i] += n
		m.count[i] = 0
	}
	r := v / m.vref
	m.scale = r * r
}

// open is the energy of the events since the last SetVoltage. The conversions keep the compiler from fusing multiply
// and add, which would change the last bits on machines that have the instruction.
func (m *Meter) open() float64 {
	var pj float64
	for i, n := range m.count {
		pj += float64(float64(n) * m.pj[i])
	}
	return float64(pj * m.scale)
}

// PJ is the dynamic energy so far.
func (m *Meter) PJ() float64 { return m.folded + m.open() }

// Reset forgets the events; the voltage stays.
func (m *Meter) Reset() {
	clear(m.count)
	clear(m.total)
	m.folded = 0
}

// Counters are the events since Reset.
func (m *Meter) Counters() []sim.Counter {
	c := make([]sim.Counter, len(m.names))
	for i, n := range m.names {
		c[i] = sim.Counter{Name: n, Value: m.total[i] + m.count[i]}
	}
	return c
}

// StaticPJ is the energy of a constant power over a span.
func StaticPJ(milliwatts float64, t sim.Time) float64 {
	return milliwatts * (float64(t) / 1e6) // mW x fs = 1e-6 pJ
}

// OfCounters is the energy of counted events by table; counters without a row
// cost nothing, a row that no counter has is an error.
func OfCounters(counters []sim.Counter, table map[string]float64) (float64, error) {
	used := 0
	var pj float64
	for _, c := range counters {
		if v, ok := table[c.Name]; ok {
			used++
			pj += float64(float64(c.Value) * v)
		}
	}
	if used == len(table) {
		return pj, nil
	}
	var names []string
	for n := range table {
		found := false
		for _, c := range counters {
			found = found || c.Name == n
		}
		if !found {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return 0, fmt.Errorf("power: no counter for %s", strings.Join(names, ", "))
}
