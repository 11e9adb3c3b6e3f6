package base

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// lasting is a program that takes so long.
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
			p := &prepared{device: d, given: &nn.Model{}, program: lasting{fs: c.fs}}
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
		p := &prepared{device: d, given: &nn.Model{}, program: lasting{}}
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
