package base

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// lasting is a program of a given duration.
type lasting struct {
	Program
	fs int64
}

func (l lasting) Execute(*hal.Buffers, Place) (*hal.Result, error) {
	return &hal.Result{Stats: hal.Stats{LatencyFs: l.fs}}, nil
}

// TestDeadlineFs: what ends at its deadline is in time, what ends a femtosecond later is not, and stops the clock there:
// an execution as a preparation.
func TestDeadlineFs(t *testing.T) {
	const ns = 1_000_000 // fs
	for _, c := range []struct {
		start, fs int64
		deadline  hal.TimePoint
		late      bool
	}{
		{0, 5 * ns, 5, false}, {0, 5*ns + 1, 5, true}, {0, 5*ns + 1, 6, false}, {0, 6*ns - 1, 5, true},
		{2 * ns, 3 * ns, 5, false}, {2 * ns, 3*ns + 1, 5, true}, {0, 0, 1, false},
	} {
		for _, what := range []string{"the execution", "preparing the model"} {
			d := &Device{cfg: Config{Name: "toy"}, clock: hal.NewClock()}
			d.clock.AdvanceTo(c.start)
			p := &prepared{device: d, original: &nn.Model{}, program: lasting{fs: c.fs}}
			var err error
			if what == "the execution" {
				_, err = p.run(&hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Deadline: &c.deadline}}, c.start)
			} else {
				err = d.prepareUntil(p, c.fs, &c.deadline)
			}
			end := c.start + c.fs
			if c.late {
				end = int64(c.deadline) * ns
			}
			text := what + " would end at 5ns, after its deadline 5ns"
			if c.late != (hal.StatusOf(err) == hal.MissedDeadlineTransient) || c.late && !strings.Contains(err.Error(), text) || d.clock.NowFs() != end {
				t.Errorf("%s: %+v: %v, the clock at %d fs", what, c, err, d.clock.NowFs())
			}
		}
	}
}

// TestMissed: a deadline that is now has passed, one later has not.
func TestMissed(t *testing.T) {
	d := &Device{cfg: Config{Name: "toy"}, clock: hal.NewClock()}
	d.clock.AdvanceTo(5_000_000)
	for at, missed := range map[hal.TimePoint]bool{4: true, 5: true, 6: false} {
		p := &prepared{device: d, original: &nn.Model{}, program: lasting{}}
		_, err := p.run(&hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Deadline: &at}}, 5_000_000)
		for _, err := range []error{err, d.missed(&at)} {
			if (hal.StatusOf(err) == hal.MissedDeadlinePersistent) != missed || missed && !strings.Contains(err.Error(), "the deadline, "+instant(at).String()+", has passed: it is 5ns") {
				t.Errorf("until %d: %v", at, err)
			}
		}
	}
	if a, b := instant(5), instant(math.MaxUint64); a != 5 || b != time.Duration(math.MaxInt64) {
		t.Errorf("%v, %v", a, b)
	}
}

// TestPlus: an unknown time stays unknown, another grows by whole microseconds.
func TestPlus(t *testing.T) {
	if a, b := plus(hal.NoTime, 3e9), plus(5, 3e9-1); a != hal.NoTime || b != 7 {
		t.Errorf("%d, %d", a, b)
	}
}

// TestTiming: the device's time is without launches, the driver's without the runtime and calls between processes,
// neither below 0 and the driver's not below the device's.
func TestTiming(t *testing.T) {
	const us = 1_000_000_000 // fs
	launch := []hal.OperationStats{{Index: hal.LaunchIndex, TimeFs: 3 * us}, {Index: 0, TimeFs: 5 * us}}
	for _, c := range []struct {
		s    hal.Stats
		want hal.Timing
	}{
		{hal.Stats{}, hal.NoTiming}, {hal.Stats{LatencyFs: 9*us - 1}, hal.Timing{OnDevice: 8, InDriver: 8}}, {hal.Stats{LatencyFs: us - 1}, hal.Timing{}},
		{hal.Stats{LatencyFs: 9 * us, Operations: launch}, hal.Timing{OnDevice: 6, InDriver: 9}}, {hal.Stats{LatencyFs: 2 * us, Operations: launch}, hal.Timing{OnDevice: 0, InDriver: 2}},
	} {
		if got := Timing(&c.s); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.s, got, c.want)
		}
	}
	for measure, want := range map[bool]hal.Timing{false: hal.NoTiming, true: {OnDevice: 2, InDriver: 2}} {
		d := &Device{cfg: Config{Name: "toy"}, clock: hal.NewClock()}
		res, err := (&prepared{device: d, original: &nn.Model{}, program: lasting{fs: 2 * us}}).run(&hal.Buffers{ExecuteOptions: hal.ExecuteOptions{MeasureTiming: measure}}, 0)
		if err != nil || res.Timing != want {
			t.Errorf("measured %v: %+v, %v", measure, res, err)
		}
	}
	launch[0].TimeFs = 5 * us
	for name, want := range map[string]uint64{"runtime": 6, "binder": 6, "burst": 6, "thread": 6, "rpc": 9, "execution": 9} {
		c := hal.Stats{LatencyFs: 9 * us, Operations: launch, Parts: []hal.Part{{Name: name, TimeFs: 3 * us}}}
		if got := Timing(&c); got != (hal.Timing{OnDevice: 4, InDriver: want}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
