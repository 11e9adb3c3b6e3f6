package base_test

import (
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestPreparingTakesTime: preparing a model advances the clock by the time that the prepared
// model reports, more for a larger one, and a deadline within that time fires.
func TestPreparingTakesTime(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	d := list[len(list)-1]
	small, large := zoo.MustBuild("mobilenet_v1_0.25_128_quant"), zoo.MustBuild("mobilenet_v1_0.75_128_quant")
	took := func(deadline *hal.TimePoint) (time.Duration, error) {
		before := d.Now()
		_, err := d.PrepareModel(small, hal.PrepareOptions{Deadline: deadline})
		return time.Duration(d.Now() - before), err
	}
	before := d.Now()
	bytes := func(p hal.PreparedModel) int64 { return p.(interface{ ProgramBytes() int64 }).ProgramBytes() }
	p := require.V(d.PrepareModel(large, hal.PrepareOptions{}))(t)
	more := time.Duration(d.Now() - before)
	if told := p.(hal.Preparing).PreparedFs() / 1e6; told != int64(more) {
		t.Errorf("the clock moved by %v, the prepared model says %v", more, time.Duration(told))
	}
	tiny := require.V(d.PrepareModel(small, hal.PrepareOptions{}))(t)
	if bytes(tiny) <= 0 || bytes(p) <= bytes(tiny) {
		t.Errorf("%d bytes of a program, %d of one of a smaller model", bytes(p), bytes(tiny))
	}
	less, err := took(nil)
	if err != nil || less <= 0 || less >= more {
		t.Errorf("%v, %v; want less than the %v of a larger model", less, err, more)
	}
	require.Same(t, less, require.V(took(hal.MakeDeadline(d, less+time.Millisecond)))(t))
	got, err := took(hal.MakeDeadline(d, less/2))
	if hal.StatusOf(err) != hal.MissedDeadlineTransient || got > less/2 || got < less/2-time.Microsecond {
		t.Errorf("%v, %v; want the driver to give up at its deadline, %v", got, err, less/2)
	}
}
