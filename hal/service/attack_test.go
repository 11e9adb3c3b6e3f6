//go:build linux

package service

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// attacked serves the reference CPU with a bound of so many MiB for all clients.
func attacked(t *testing.T, mebibytes int64) (*Server, func() *Device) {
	path := filepath.Join(t.TempDir(), "s")
	l := require.V(Listen(path))(t)
	s := NewServer(cpudriver.New(cpudriver.Config{}), Quotas{Memory: mebibytes << 20, All: mebibytes << 20})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		require.Report(t, <-served)
	})
	return s, func() *Device {
		d := require.V(Dial(path))(t)
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
}

// growth is the most by which the heap of the process grows while it does something, in MiB.
func growth(do func()) int64 {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	runtime.GC()
	before := heap()
	var most atomic.Int64
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			most.Store(max(most.Load(), heap()))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	do()
	close(stop)
	watch.Wait()
	return (max(most.Load(), heap()) - before) >> 20
}

// exhausted fails unless an error is of a quota, and names its flag.
func exhausted(t *testing.T, what string, err error) {
	t.Helper()
	status := hal.StatusOf(err)
	if err == nil || status != hal.ResourceExhaustedTransient && status != hal.ResourceExhaustedPersistent || !strings.Contains(err.Error(), "--memory-mib") {
		t.Errorf("%s: %v, want an error of --memory-mib", what, err)
	}
}

// given is the account of what is in use after everything has been given back.
func given(t *testing.T, s *Server) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		s.all.mu.Lock()
		n := s.all.used[memoryBytes]
		s.all.mu.Unlock()
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d bytes are still in use", n)
		}
	}
}

// TestAttackByMessages: messages that are large when they are decoded are refused before.
func TestAttackByMessages(t *testing.T) {
	s, connect := attacked(t, 100)
	d := connect()
	large := &pb.ExecuteRequest{Session: d.about.Session, Inputs: make([]*pb.Argument, 450_000)}
	empty := &pb.Argument{}
	for i := range large.Inputs {
		large.Inputs[i] = empty
	}
	var refused atomic.Int64
	n := growth(func() {
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				_, err := d.client.Execute(context.Background(), large)
				if strings.Contains(err.Error(), "--memory-mib") {
					refused.Add(1)
				}
			})
		}
		all.Wait()
	})
	require.Check(t, refused.Load() > 0, "no message was refused")
	require.Check(t, n < 200, "the process grew by %d MiB", n) // with the 32 messages on their way, twice
	require.Report(t, d.Close())
	given(t, s)
}

// chain is a model of n RELUs of one byte.
func chain(n int) *nn.Model {
	byteOf := nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: 1}
	m := &nn.Model{Main: nn.Subgraph{Operands: make([]nn.Operand, n+1), Inputs: []uint32{0}, Outputs: []uint32{uint32(n)}}}
	g := &m.Main
	for i := range g.Operands {
		g.Operands[i] = byteOf
		g.Operands[i].Lifetime = nn.TemporaryVariable
	}
	g.Operands[0].Lifetime, g.Operands[n].Lifetime = nn.SubgraphInput, nn.SubgraphOutput
	for i := range n {
		g.Operations = append(g.Operations, nn.Operation{Type: nn.OpRelu, Inputs: []uint32{uint32(i)}, Outputs: []uint32{uint32(i + 1)}})
	}
	return m
}

// TestAttackByGraphs: a graph counts what it takes in the driver, over all clients.
func TestAttackByGraphs(t *testing.T) {
	s, connect := attacked(t, 100)
	m := chain(20_000)
	first, second := connect(), connect()
	var kept []hal.PreparedModel
	var err error
	n := growth(func() {
		for i := 0; i < 64 && err == nil; i++ {
			var p hal.PreparedModel
			if p, err = []*Device{first, second}[i%2].PrepareModel(m, hal.PrepareOptions{}); err == nil {
				kept = append(kept, p)
			}
		}
	})
	exhausted(t, "one graph more", err)
	require.Check(t, len(kept) > 0 && n < 400, "%d graphs, the process grew by %d MiB", len(kept), n)
	runtime.KeepAlive(kept)
	require.Report(t, first.Close())
	require.Report(t, second.Close())
	given(t, s)
}

// tiled is a model that tiles a byte k times, each time as often as multiples say, and returns the largest of the last.
// The multiples are an input, or a constant.
func tiled(k int, multiples []byte, constant bool) *nn.Model {
	small := nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: 1}
	count := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}
	large := nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 1, Dimensions: []uint32{0}, Lifetime: nn.TemporaryVariable}
	if constant {
		count.Lifetime, count.Data, large.Dimensions = nn.ConstantCopy, multiples, []uint32{binary.LittleEndian.Uint32(multiples)}
	}
	axis := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	keep := nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{1}}
	in, out := small, small
	in.Lifetime, out.Lifetime = nn.SubgraphInput, nn.SubgraphOutput
	g := nn.Subgraph{Operands: []nn.Operand{in, count, axis, keep, out}, Inputs: []uint32{0, 1}, Outputs: []uint32{4}}
	if constant {
		g.Inputs = g.Inputs[:1]
	}
	for range k {
		g.Operands = append(g.Operands, large)
		g.Operations = append(g.Operations, nn.Operation{Type: nn.OpTile, Inputs: []uint32{0, 1}, Outputs: []uint32{uint32(len(g.Operands) - 1)}})
	}
	g.Operations = append(g.Operations, nn.Operation{Type: nn.OpReduceMax, Inputs: []uint32{uint32(len(g.Operands) - 1), 2, 3}, Outputs: []uint32{4}})
	return &nn.Model{Main: g}
}

// TestAttackByTemporaries: an execution that computes more than its arguments show is refused before it allocates,
// whether the model or values of the execution say how much it computes.
func TestAttackByTemporaries(t *testing.T) {
	s, connect := attacked(t, 100)
	d := connect()
	for _, c := range []struct {
		tiles    int
		constant bool
		large    uint32
	}{
		{1, true, 512 << 20},
		{1, false, 120 << 20}, // more than opspec.MaxOpenBytes is refused for that
		{3, false, 40 << 20},  // together
	} {
		run := func(n uint32) error {
			multiples := binary.LittleEndian.AppendUint32(nil, n)
			m := tiled(c.tiles, multiples, c.constant)
			p, err := d.PrepareModel(m, hal.PrepareOptions{})
			if err != nil {
				return err
			}
			return require.Err(hal.Execute(p, &hal.Buffers{Inputs: [][]byte{{7}, multiples}[:len(m.Main.Inputs)], Outputs: [][]byte{{0}}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}))
		}
		require.NoError(t, run(1<<20))
		n := growth(func() {
			var calls sync.WaitGroup
			for range 4 {
				calls.Go(func() { exhausted(t, "an execution", run(c.large)) })
			}
			calls.Wait()
		})
		require.Check(t, c.tiles > 1 || n < 64, "constant multiples %v: the process grew by %d MiB", c.constant, n)
	}
	require.Report(t, d.Close())
	given(t, s)
}

// TestOpenModelsCountTheirPrograms: a model of open shapes counts a program for each set of shapes that it has met.
func TestOpenModelsCountTheirPrograms(t *testing.T) {
	s, connect := attacked(t, 100)
	d := connect()
	const constant = 4 << 10
	f := nn.Operand{Type: nn.TensorFloat32}
	in, one, none, out := f, f, nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}, f
	in.Dimensions, in.Lifetime = []uint32{0, constant / 4}, nn.SubgraphInput
	one.Dimensions, one.Lifetime, one.Data = []uint32{constant / 4}, nn.ConstantCopy, make([]byte, constant)
	out.Dimensions, out.Lifetime = []uint32{0, constant / 4}, nn.SubgraphOutput
	p := require.V(d.PrepareModel(&nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{in, one, none, out}, Inputs: []uint32{0}, Outputs: []uint32{3},
		Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}}}, hal.PrepareOptions{}))(t)
	run := func(rows uint32) int64 {
		require.NoError(t, require.Err(hal.Execute(p, &hal.Buffers{Inputs: [][]byte{make([]byte, rows*constant)}, InputDimensions: [][]uint32{{rows, constant / 4}},
			Outputs: [][]byte{make([]byte, rows*constant)}, ExecuteOptions: hal.ExecuteOptions{Functional: true}})))
		m := require.V(find[*model](s.sessions[d.about.Session], p.(*prepared).id))(t)
		return m.program[memoryBytes]
	}
	for i, rows := range []uint32{1, 2, 2, 1, 3} {
		require.Same(t, int64([]int{0, 1, 2, 2, 2}[i]*(constant+4)), run(rows), "bytes before execution", i)
	}
	runtime.KeepAlive(p)
	require.Report(t, d.Close())
	given(t, s)
}
