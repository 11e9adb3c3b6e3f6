package session

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// streamRounds is how many inputs each thread of the application sends once governors have had their time.
const streamRounds = 4

// Streamed is the result of a stream of inputs, means over its inputs.
type Streamed struct {
	IntervalFs float64            // from result to result
	LatencyFs  float64            // of an input, less its waits for engines in their queues
	HeldFs     map[string]float64 // for how long an input holds the engine of each device
}

// Stream runs a stream of inputs through a plan. The application has a thread for each of partition.InFlight inputs,
// whatever the prediction. Governors settle before: until then executions cost the same as in a warm-up, at the clocks
// that they find. These costs are not those that executions have in the stream, and a step of them makes the waits of
// threads swing; so for as long again they cost what each program takes at the clocks that have been reached.
func Stream(m *Phone, c *nnrt.Compilation, inputs [][]byte) (*Streamed, error) {
	live := m.Live
	live.Reset()
	once := func(thread hal.Client) (*nnrt.Result, error) {
		return c.Execute(inputs, nnrt.ExecuteOptions{Client: thread})
	}
	warm := live.Approximate
	if live.SimulateAll { // next to no host time
		warm = live.Warm
	}
	defer live.Exact()
	if err := warm(func() error { _, err := once(nil); return err }); err != nil {
		return nil, err
	}
	settled := int64(live.SoC().Now() + governorsTime)
	flows, refreshed := settled+int64(governorsTime), false
	s := &Streamed{HeldFs: map[string]float64{}}
	var ends []int64 // in the order of handing over
	threads := slices.Repeat([]func(*devices.Client) error{func(thread *devices.Client) error {
		for thread.NowFs() < flows {
			if thread.NowFs() >= settled && !refreshed {
				live.Refresh()
				refreshed = true
			}
			if _, err := once(thread); err != nil {
				return err
			}
		}
		live.Exact()
		for range streamRounds {
			r, err := once(thread)
			if err != nil {
				return err
			}
			ends = append(ends, thread.NowFs())
			s.add(r, streamRounds*partition.InFlight)
		}
		return nil
	}}, partition.InFlight)
	if _, err := live.RunConcurrent(threads...); err != nil {
		return nil, err
	}
	slices.Sort(ends)
	// Two rounds of all threads, so that no part of a batch is cut off, between the one that fills the stream and the
	// last, during which fewer and fewer inputs are in flight.
	from, to := partition.InFlight-1, (streamRounds-1)*partition.InFlight-1
	s.IntervalFs = float64(ends[to]-ends[from]) / float64(to-from)
	return s, nil
}

// add adds one of n inputs.
func (s *Streamed) add(r *nnrt.Result, n float64) {
	s.LatencyFs += float64(r.LatencyFs) / n
	for _, p := range r.Chain {
		if p.Name == platform.PartQueue {
			s.LatencyFs -= float64(p.TimeFs) / n
		}
	}
	for i := range r.Parts {
		s.HeldFs[r.Parts[i].Device] += float64(r.Parts[i].EngineFs) / n
	}
}
