package base

import (
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
)

// ConfigureExecutionBurst implements hal.PreparedModel. The burst ends when it is closed
// or nobody refers to it.
func (p *prepared) ConfigureExecutionBurst() (hal.Burst, error) {
	c, err := burst.Local(p.Execute, p.PollWindow())
	if err != nil {
		return nil, err
	}
	return c, nil
}

// PollWindow is how long a server of bursts looks for the next request before it sleeps: not at all where the
// client prefers low power.
func (p *prepared) PollWindow() time.Duration {
	if p.options.Preference == hal.LowPower {
		return 0
	}
	return burst.PollWindow
}

// BurstServer is a prepared model that serves a burst on queues of the caller.
type BurstServer interface {
	// ServeBurst is IPreparedModel.configureExecutionBurst.
	ServeBurst(callback burst.Callback, requests, results burst.Channel) (burst.Context, error)
}

// ServeBurst implements BurstServer.
func (p *prepared) ServeBurst(callback burst.Callback, requests, results burst.Channel) (burst.Context, error) {
	s, err := burst.Serve(p.Execute, p.PollWindow(), callback, requests, results)
	if err != nil {
		return nil, err
	}
	return s, nil
}
