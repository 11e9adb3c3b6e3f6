package burst_test

import (
	"sync"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/internal/require"
)

// patience bounds the time of a step of a test before it counts as stuck.
const patience = 10 * time.Second

// within fails when f does not return.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	await(t, what, done)
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: stuck after %v", what, patience)
	}
}

// pair are the two ends of a burst; seen gets the pools of each request.
type pair struct {
	*burst.Controller
	server *burst.Server
	asked  func(slots []int32) // called before memories are requested from the client; may be nil
	freed  func(slot int32)    // before the server forgets a slot; may be nil
	seen   [][]hal.RequestPool
}

func (p *pair) GetMemories(slots []int32) ([]*hal.Memory, error) {
	if p.asked != nil {
		p.asked(slots)
	}
	return p.Slots.GetMemories(slots)
}

func connect(t *testing.T) *pair {
	t.Helper()
	p := &pair{}
	requests, results := burst.NewQueue(burst.ChannelLength), burst.NewQueue(burst.ChannelLength)
	slots := burst.NewSlots(func(slot int32) {
		if p.freed != nil {
			p.freed(slot)
		}
		p.server.FreeMemory(slot)
	})
	p.Controller = &burst.Controller{Slots: slots, Requests: requests, Results: results}
	s, err := burst.NewServer(burst.ServerConfig{
		Callback: p, Requests: requests, Results: results,
		Execute: func(r *hal.Request, _ bool) (*hal.Result, error) {
			p.seen = append(p.seen, r.Pools)
			return &hal.Result{Timing: hal.NoTiming}, nil
		},
	})
	require.NoError(t, err)
	p.server, p.Context = s, s
	return p
}

func naming(list ...*hal.Memory) *hal.Request {
	r := &hal.Request{}
	for _, m := range list {
		r.Pools = append(r.Pools, hal.RequestPool{Memory: m})
	}
	return r
}

// A client that frees a slot while the driver requests another does not block: each side
// holds its own lock only while it reads its own tables.
func TestFreeWhileAsking(t *testing.T) {
	p := connect(t)
	first, second := hal.NewMemory(4), hal.NewMemory(4)
	release := p.CacheMemory(first)
	asking, freeing := make(chan struct{}), make(chan struct{})
	begin, freed := sync.OnceFunc(func() { close(asking) }), sync.OnceFunc(func() { close(freeing) })
	p.freed = func(int32) { freed() }
	p.asked = func([]int32) {
		begin()
		<-freeing
	}
	executed := make(chan struct{})
	go func() {
		defer close(executed)
		require.Report(t, require.Err(p.Execute(naming(second), hal.ExecuteOptions{})))
	}()
	await(t, "asking for the second memory", asking)
	within(t, "releasing the first memory", release)
	await(t, "executing with the second memory", executed)
	within(t, "closing", func() { _ = p.Close() })
}

// A slot that is freed while the driver requests its memory is not kept.
func TestFreedWhileAsking(t *testing.T) {
	p := connect(t)
	m := hal.NewMemory(4)
	asked := 0
	p.asked = func(slots []int32) {
		if asked++; asked == 1 {
			p.server.FreeMemory(slots[0])
		}
	}
	release := p.CacheMemory(m)
	for range 3 {
		require.V(p.Execute(naming(m), hal.ExecuteOptions{}))(t)
	}
	require.Check(t, asked == 2, "the driver asked %d times, want 2: once in vain", asked)
	release()
	_ = p.Close()
}

// A memory in the cache stays mapped until all that requested it have released it.
func TestCacheMemory(t *testing.T) {
	p := connect(t)
	m, other := hal.NewMemory(4), hal.NewMemory(4)
	asked, freed := 0, 0
	p.asked = func(slots []int32) { asked += len(slots) }
	p.freed = func(int32) { freed++ }
	execute := func(m *hal.Memory) {
		t.Helper()
		require.V(p.Execute(naming(m), hal.ExecuteOptions{}))(t)
		if got := p.seen[len(p.seen)-1][0].Memory; got != m {
			t.Fatalf("the driver executes with %p, want %p", got, m)
		}
	}
	counts := func(when string, wantAsked, wantFreed int) {
		t.Helper()
		if asked != wantAsked || freed != wantFreed {
			t.Errorf("%s: asked for %d and freed %d memories, want %d and %d", when, asked, freed, wantAsked, wantFreed)
		}
	}
	execute(m)
	execute(m)
	counts("without a cache", 2, 2)
	one, two := p.CacheMemory(m), p.CacheMemory(m)
	execute(m)
	execute(m)
	counts("cached", 3, 2)
	one()
	one() // a second time is none
	execute(m)
	counts("held once more", 3, 2)
	execute(other)
	counts("beside another", 4, 3)
	two()
	counts("released", 4, 4)
	again := p.CacheMemory(other) // takes the slot that was freed last
	execute(other)
	execute(m)
	counts("with the slots of others", 6, 5)
	p.CacheMemory(nil)()
	_ = p.Close()
	again()
	p.CacheMemory(m)()
}
