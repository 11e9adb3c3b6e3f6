package main

import (
	"math"
	"slices"

	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim"
)

// streamRounds is how many inputs each thread of the application sends.
const streamRounds = 4

// stream runs a stream of inputs through a plan and returns the time between its
// results in microseconds. The application has a thread for each input in flight: as
// many as keep the busiest engine at work by prediction, and one more.
func (x *planner) stream(c *nnrt.Compilation, inputs [][]byte, e *partition.Evaluation) (float64, error) {
	inFlight := partition.InFlight
	if e.IntervalFs > 0 {
		inFlight = int(min(math.Ceil(e.LatencyFs/e.IntervalFs)+1, partition.InFlight))
	}
	live := x.machine.live
	live.Reset()
	once := func() error {
		_, err := c.Execute(inputs, nnrt.ExecuteOptions{})
		return err
	}
	if err := live.Warm(once); err != nil {
		return 0, err
	}
	var ends []sim.Time // in the order of handing over
	threads := slices.Repeat([]func() error{func() error {
		for range streamRounds {
			if err := once(); err != nil {
				return err
			}
			ends = append(ends, live.SoC().Now())
		}
		return nil
	}}, inFlight)
	if _, err := live.Together(threads...); err != nil {
		return 0, err
	}
	slices.Sort(ends)
	// The stream fills up before the first results and drains after the last.
	first, last := inFlight-1, len(ends)-inFlight
	return microseconds(int64(ends[last]-ends[first])) / float64(last-first), nil
}
