package session

import (
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Invocations are the measured invocations of a run.
type Invocations struct {
	Count   int     `json:"count"`
	FirstUS float64 `json:"first_us"`
	MeanUS  float64 `json:"mean_us"`
	MinUS   float64 `json:"min_us"`
	MaxUS   float64 `json:"max_us"`
	StdUS   float64 `json:"std_us"`
	P50US   float64 `json:"p50_us"` // half of the invocations take at most so long
	P90US   float64 `json:"p90_us"`
	P99US   float64 `json:"p99_us"`
	Course  *Course `json:"course,omitempty"` // with --duration

	latencies       latencies
	sum, squares    float64            // of the differences to the first
	Energy          float64            `json:"-"`
	Parts, Energies map[string]float64 `json:"-"` // sums, then means
	Components      map[string]float64 `json:"-"` // of the phone, by which Energy is divided

	shared []hal.Account // pending
}

// NewInvocations returns none yet.
func NewInvocations() *Invocations {
	return &Invocations{Parts: map[string]float64{}, Energies: map[string]float64{}, Components: map[string]float64{}}
}

// Add adds a result. Energy divided among it and others is complete by Finish.
func (x *Invocations) Add(r *nnrt.Result) {
	if r.Shared != nil {
		x.shared = append(x.shared, r.Shared)
	}
	x.components(r.Components)
	x.add(r.LatencyFs, r.EnergyPJ)
	left := r.LatencyFs
	for _, p := range r.Chain {
		left -= x.part(p.Name, p.TimeFs, p.EnergyPJ)
	}
	x.overlap(left)
}

func (x *Invocations) components(list []hal.ComponentEnergy) (pj float64) {
	for _, c := range list {
		x.Components[c.Name] += c.EnergyPJ / 1e6
		pj += c.EnergyPJ
	}
	return pj
}

// repeated adds an iteration of a loop.
func (x *Invocations) repeated(v *devices.Invocation) {
	x.add(int64(v.Latency), v.EnergyPJ)
	for r, pj := range v.Rails {
		if pj != 0 {
			x.Components[soc.Rail(r).String()] += pj / 1e6
		}
	}
	left := int64(v.Latency)
	for _, p := range v.Parts {
		left -= x.part(p.Name, int64(p.Time), p.EnergyPJ)
	}
	x.overlap(left)
}

func (x *Invocations) add(fs int64, pj float64) {
	us := microseconds(fs)
	if x.Count == 0 {
		x.FirstUS, x.MinUS, x.MaxUS = us, us, us
	}
	x.Count++
	x.latencies.add(us)
	x.MinUS, x.MaxUS = min(x.MinUS, us), max(x.MaxUS, us)
	d := us - x.FirstUS
	x.sum += d
	x.squares += d * d
	x.Energy += pj / 1e6
}

func (x *Invocations) part(name string, fs int64, pj float64) int64 {
	x.Parts[name] += microseconds(fs)
	x.Energies[name] += pj / 1e6
	return fs
}

// overlap is the time of devices that work at the same time.
func (x *Invocations) overlap(fs int64) {
	if fs != 0 {
		x.Parts["overlap"] += microseconds(fs)
	}
}

// Finish works out means once all invocations were added.
func (x *Invocations) Finish() {
	for _, s := range x.shared {
		if pj := x.components(s.Components()); pj > 0 {
			x.Energy += pj / 1e6
			x.part(nnrt.PartShared, 0, pj)
		}
	}
	x.shared = nil
	n := float64(x.Count)
	mean := x.sum / n
	x.MeanUS = x.FirstUS + mean
	p := x.latencies.percentiles(50, 90, 99)
	x.P50US, x.P90US, x.P99US, x.latencies.us = p[0], p[1], p[2], nil
	x.StdUS = math.Sqrt(max(0, x.squares/n-mean*mean))
	x.Energy /= n
	for k := range x.Parts {
		x.Parts[k] /= n
	}
	for k := range x.Energies {
		x.Energies[k] /= n
	}
	for k := range x.Components {
		x.Components[k] /= n
	}
}
