package base

import (
	"errors"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// missed is the error of a call whose deadline has passed before it begins.
func (d *Device) missed(deadline *hal.TimePoint) error {
	if now := d.clock.Now(); deadline != nil && now >= *deadline {
		return hal.Errorf(hal.MissedDeadlinePersistent, "%s driver: the deadline, %v, has passed: it is %v",
			d.cfg.Name, instant(*deadline), instant(now))
	}
	return nil
}

// instant prints an instant as the time since the machine started.
func instant(t hal.TimePoint) time.Duration { return time.Duration(min(t, 1<<63-1)) }

// run executes a program on the machine's clock, from an instant on: the clock moves by
// the simulated time of the execution, at most to the deadline, at which the device
// aborts. An execution of the engine only moves no clock: its client has the machine.
func (p *prepared) run(b *hal.Buffers, startFs int64) (*hal.Result, error) {
	d := p.device
	if b.Deadline != nil && hal.TimePoint(startFs/1e6) >= *b.Deadline {
		return nil, hal.Errorf(hal.MissedDeadlinePersistent, "%s driver: the deadline, %v, has passed: it is %v",
			d.cfg.Name, instant(*b.Deadline), instant(hal.TimePoint(startFs/1e6)))
	}
	res, err := p.through(b, startFs)
	if late := (*sim.Late)(nil); errors.As(err, &late) {
		if !b.EngineOnly {
			d.clock.AdvanceTo(startFs + int64(late.At))
		}
		if _, told := hal.StatusIn(err); !told {
			err = hal.Errorf(hal.MissedDeadlineTransient, "the deadline: %w", late)
		}
	}
	if err != nil {
		err = d.executionFailure(err)
	}
	if res == nil {
		return nil, err
	}
	end := startFs + res.Stats.LatencyFs
	if b.Deadline != nil && hal.TimePoint((end+999_999)/1e6) > *b.Deadline {
		if !b.EngineOnly {
			d.clock.AdvanceTo(int64(*b.Deadline) * 1e6)
		}
		return nil, hal.Errorf(hal.MissedDeadlineTransient, "%s driver: the execution would end at %v, after its deadline %v",
			d.cfg.Name, instant(hal.TimePoint(end/1e6)), instant(*b.Deadline))
	}
	if !b.EngineOnly {
		d.clock.AdvanceTo(end)
	}
	d.Log(vlog.Driver, "execute: from %v to %v", time.Duration(startFs/1e6), time.Duration(end/1e6))
	if err == nil && b.MeasureTiming {
		res.Timing = Timing(&res.Stats)
	} else {
		res.Timing = hal.NoTiming
	}
	return res, err
}

// Timing is the duration of an execution: on the device, and with the driver's work around it
// but without the runtime's and that of the calls between processes. A functional
// execution has no known time.
func Timing(s *hal.Stats) hal.Timing {
	if s.LatencyFs == 0 {
		return hal.NoTiming
	}
	device, driver := s.LatencyFs, s.LatencyFs
	for i := range s.Operations {
		if s.Operations[i].Index == hal.LaunchIndex {
			device -= s.Operations[i].TimeFs
		}
	}
	for _, p := range s.Parts {
		switch p.Name {
		case platform.PartRuntime, platform.PartBinder, platform.PartBurst, platform.PartThread:
			driver -= p.TimeFs
		}
	}
	const fsPerUs = 1e9
	return hal.Timing{OnDevice: uint64(max(device, 0) / fsPerUs), InDriver: uint64(max(driver, device, 0) / fsPerUs)}
}
