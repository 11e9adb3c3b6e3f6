package nnrt

import (
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// fencing is a picky device whose fenced executions have a given time.
type fencing struct {
	*picky
	info hal.FencedInfo
}

func (d *fencing) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.picky.PrepareModel(m, o)
	return &fencingModel{p, d.info}, err
}

type fencingModel struct {
	hal.PreparedModel
	info hal.FencedInfo
}

func (p *fencingModel) ExecuteFenced(r *hal.Request, _ []*hal.SyncFence, o hal.ExecuteOptions, _ time.Duration) (*hal.FencedExecution, error) {
	res, err := p.Execute(r, o)
	p.info.Result = res
	f := hal.NewSyncFence()
	f.Signal(0, nil)
	return hal.NewFencedExecution(f, func() (hal.FencedInfo, error) { return p.info, err }), nil
}

// lateFence is a fencing device whose fences signal some time after an execution has begun.
type lateFence struct {
	*picky
	fence *hal.SyncFence
}

func (d *lateFence) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.picky.PrepareModel(m, o)
	return &lateFenceModel{p, d.fence}, err
}

type lateFenceModel struct {
	hal.PreparedModel
	fence *hal.SyncFence
}

func (p *lateFenceModel) ExecuteFenced(*hal.Request, []*hal.SyncFence, hal.ExecuteOptions, time.Duration) (*hal.FencedExecution, error) {
	if p.fence == nil {
		return nil, hal.Errorf(hal.GeneralFailure, "no fences left")
	}
	time.AfterFunc(30*time.Millisecond, func() { p.fence.Signal(0, nil) })
	return hal.NewFencedExecution(p.fence, func() (hal.FencedInfo, error) { return hal.FencedInfo{}, nil }), nil
}

// TestFencedErrorWaits: where a part cannot begin, the call returns when those that have begun write no more.
func TestFencedErrorWaits(t *testing.T) {
	fence := hal.NewSyncFence()
	x := &lateFence{&picky{name: "x", declines: map[nn.OperationType]bool{nn.OpRelu6: true}}, fence}
	y := &lateFence{&picky{name: "y", declines: map[nn.OperationType]bool{nn.OpRelu: true, nn.OpMul: true, nn.OpAdd: true}}, nil}
	c := require.V(Compile(require.V(registry.New(testCPU(), x, y))(t), model(), ByStrategy, CompileOptions{}))(t)
	err := require.Err(c.ExecuteFenced([][]byte{input()}, [][]byte{make([]byte, 16)}, nil, ExecuteOptions{}, 0))
	require.ErrorContains(t, err, "no fences left")
	select {
	case <-fence.Done():
	default:
		t.Error("the first part still writes to the caller's buffers")
	}
}

// TestFencedTimes: of parts that follow each other the first counts since the call, or its fences,
// the others since the fence of the one before.
func TestFencedTimes(t *testing.T) {
	timing := func(us uint64) hal.Timing { return hal.Timing{OnDevice: us, InDriver: 10 * us} }
	x := &fencing{&picky{name: "x", declines: map[nn.OperationType]bool{nn.OpRelu6: true}}, hal.FencedInfo{TimingLaunched: timing(7), TimingFenced: timing(5)}}
	y := &fencing{&picky{name: "y", declines: map[nn.OperationType]bool{nn.OpRelu: true, nn.OpMul: true, nn.OpAdd: true}},
		hal.FencedInfo{TimingLaunched: timing(900), TimingFenced: timing(3)}}
	c := require.V(Compile(require.V(registry.New(testCPU(), x, y))(t), model(), ByStrategy, CompileOptions{}))(t)
	if c.Steps() != 2 || !c.CanFence() {
		t.Fatalf("steps %q", listing(c))
	}
	f := require.V(c.ExecuteFenced([][]byte{input()}, [][]byte{make([]byte, 16)}, nil, ExecuteOptions{}, 0))(t)
	res := require.V(f.Wait())(t)
	if res.Launched != timing(10) || res.AfterFences != timing(8) {
		t.Errorf("%v since the call, %v since its fences", res.Launched, res.AfterFences)
	}
}
