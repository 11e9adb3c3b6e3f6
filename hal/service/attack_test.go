//go:build linux

package service

import (
	"context"
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

// TestAttackByTemporaries: an execution that computes more than its arguments show is refused
// before it allocates.
func TestAttackByTemporaries(t *testing.T) {
	s, connect := attacked(t, 100)
	d := connect()
	tiled := func(n uint32) *nn.Model {
		small, large := nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: 1}, nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 1, Dimensions: []uint32{n}}
		multiples := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.ConstantCopy, Data: []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}}
		axis := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
		keep := nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{1}}
		in, out := small, small
		in.Lifetime, out.Lifetime, large.Lifetime = nn.SubgraphInput, nn.SubgraphOutput, nn.TemporaryVariable
		return &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{in, multiples, large, axis, keep, out}, Inputs: []uint32{0}, Outputs: []uint32{5}, Operations: []nn.Operation{
			{Type: nn.OpTile, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}, {Type: nn.OpReduceMax, Inputs: []uint32{2, 3, 4}, Outputs: []uint32{5}}}}}
	}
	run := func(n uint32) error {
		p, err := d.PrepareModel(tiled(n), hal.PrepareOptions{})
		if err != nil {
			return err
		}
		return require.Err(hal.Execute(p, &hal.Buffers{Inputs: [][]byte{{7}}, Outputs: [][]byte{{0}}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}))
	}
	require.NoError(t, run(1<<20))
	n := growth(func() { exhausted(t, "an execution", run(512<<20)) })
	require.Check(t, n < 64, "the process grew by %d MiB", n)
	require.Report(t, d.Close())
	given(t, s)
}
