package measure

import (
	"slices"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nnrt"
	"github.com/nnsoc/nnsoc/nnrt/partition"
)

// streamRounds is how many inputs each thread of the application sends.
const streamRounds = 4

// Stream runs a stream of inputs through a plan and returns the time between its
// results in microseconds. The application has a thread for each of partition.InFlight inputs,
// whatever was predicted.
func Stream(m *machine.Machine, c *nnrt.Compilation, inputs [][]byte) (float64, error) {
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
	}}, partition.InFlight)
	if _, err := live.Together(threads...); err != nil {
		return 0, err
	}
	slices.Sort(ends)
	// Two turns of all threads, so that no part of a batch is cut off, between the one that fills the
	// stream and the last, beside which less and less is under way.
	from, to := partition.InFlight-1, (streamRounds-1)*partition.InFlight-1
	return cli.Microseconds(ends[to]-ends[from]) / float64(to-from), nil
}
