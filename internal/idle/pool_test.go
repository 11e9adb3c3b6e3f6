package idle

import (
	"runtime"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// Reused values stay, others are gone after Time, on the clock of the test.
func TestPool(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	synctest.Test(t, func(t *testing.T) {
		var p Pool[*int]
		put := func(group any) { p.Put(new(int), group) }
		put("a")
		if _, ok := p.Acquire("b"); ok {
			t.Error("took what another group has left")
		}
		for range 10 { // executions that follow one another keep it
			time.Sleep(Time / 2)
			x, ok := p.Acquire("a")
			if !ok {
				t.Fatal("gone before its time")
			}
			p.Put(x, "a")
		}
		time.Sleep(Time / 2)
		put("b")
		time.Sleep(Time/2 - 1)
		if n := p.Len(); n != 2 {
			t.Fatalf("%d values before the first one's time, want 2", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n := p.Len(); n != 1 {
			t.Fatalf("%d values after the first one's time, want 1", n)
		}
		if _, ok := p.Acquire("a"); ok {
			t.Error("the first is still there")
		}
		time.Sleep(Time / 2)
		synctest.Wait()
		if n := p.Len(); n != 0 || p.timer != nil {
			t.Errorf("%d values and a timer %v when all is over", n, p.timer)
		}
		put("c")
		if p.Drop("c"); p.Len() != 0 {
			t.Errorf("%d values after Drop", p.Len())
		}
		time.Sleep(Time)
		synctest.Wait()
		require.Check(t, p.timer == nil, "a timer that has found nothing goes on")
	})
}

// The host's memory is free again: the pool refers to nothing that it has let go of, and nothing to the pool.
func TestPoolFrees(t *testing.T) {
	for name, end := range map[string]func(p *Pool[*[]byte]){
		"expired": func(p *Pool[*[]byte]) {
			p.left[0].since = time.Now().Add(-Time)
			p.expire()
		},
		"dropped":   func(p *Pool[*[]byte]) { p.Drop(nil) },
		"abandoned": func(p *Pool[*[]byte]) {},
	} {
		freed := make(chan bool, 2)
		free := func(struct{}) { freed <- true }
		p, x := &Pool[*[]byte]{}, &[]byte{1}
		runtime.AddCleanup(x, free, struct{}{})
		runtime.AddCleanup(p, free, struct{}{})
		p.Put(x, nil)
		end(p)
		p, x = nil, nil
		waiting := time.After(Time / 2) // less than the timer
		for n := 0; n < 2; {
			runtime.GC()
			select {
			case <-freed:
				n++
			case <-time.After(10 * time.Millisecond):
			case <-waiting:
				t.Fatalf("%s: value or pool are still there", name)
			}
		}
	}
}
