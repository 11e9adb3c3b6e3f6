package measure

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// streamRounds is how many inputs each thread of the application sends.
const streamRounds = 4

// Stream runs a stream of inputs through a plan and returns the time between its
// results in microseconds. The application has a thread for each input in flight: as
// many as keep the busiest engine at work by prediction, and one more.
func Stream(m *machine.Machine, c *nnrt.Compilation, inputs [][]byte, e *partition.Evaluation) (float64, error) {
	inFlight := partition.InFlight
	if e.IntervalFs > 0 {
		inFlight = int(min(math.Ceil(e.LatencyFs/e.IntervalFs)+1, partition.InFlight))
	}
	live := m.Live
	live.Reset()
	once := func(thread hal.Client) error {
		_, err := c.Execute(inputs, nnrt.ExecuteOptions{Client: thread})
		return err
	}
	if err := live.Warm(func() error { return once(nil) }); err != nil {
		return 0, err
	}
	var ends []int64 // in the order of handing over
	threads := slices.Repeat([]func(*devices.Client) error{func(thread *devices.Client) error {
		for range streamRounds {
			if err := once(thread); err != nil {
				return err
			}
			ends = append(ends, thread.NowFs())
		}
		return nil
	}}, inFlight)
	if _, err := live.Together(threads...); err != nil {
		return 0, err
	}
	slices.Sort(ends)
	// The stream fills up before the first results and drains after the last.
	first, last := inFlight-1, len(ends)-inFlight
	return cli.Microseconds(ends[last]-ends[first]) / float64(last-first), nil
}
