package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/idle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/coretest"
)

// TestIdle: on an engine an execution finds what its program has left there last, until another program has
// run; elsewhere it finds what is for all, which engines do not share.
func TestIdle(t *testing.T) {
	type machine struct{ id int }
	var a, b Idle[*machine]
	var caches base.Caches
	engine := base.Place{Memory: &coretest.Flat{}, Caches: &caches}
	if m, ok, _ := a.Acquire(&engine); ok {
		t.Fatalf("an idle engine has %v", m)
	}
	first := &machine{1}
	a.Put(first, engine.Home())
	if m, ok, _ := a.Acquire(&base.Place{}); ok {
		t.Errorf("a place of its own has %v", m)
	}
	if m, ok, _ := a.Acquire(&engine); !ok || m != first {
		t.Errorf("took %v, %v", m, ok)
	}
	if m, ok, _ := a.Acquire(&engine); ok {
		t.Errorf("took %v twice", m)
	}
	a.Put(first, engine.Home())
	if _, ok, _ := b.Acquire(&engine); ok {
		t.Error("another program has found it")
	}
	if a.pool.Len() != 0 {
		t.Error("it is kept after another program has run")
	}
	if _, ok, _ := a.Acquire(&engine); ok {
		t.Error("found after another program has run")
	}
	if _, fingerprint := caches.State(); fingerprint != 0 {
		t.Errorf("fingerprint %#x of caches that are cold", fingerprint)
	}
}

// TestIdleKeeps: a program that keeps something in its engine finds it there until another has run, and the state of the
// engine shows it; one that keeps nothing does not.
func TestIdleKeeps(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		a, b := Idle[*int]{KeepsParameters: keeps}, Idle[*int]{KeepsParameters: keeps}
		var caches base.Caches
		engine := base.Place{Memory: &coretest.Flat{}, Caches: &caches}
		if _, ok, kept := a.Acquire(&engine); ok || kept {
			t.Errorf("keeps %v: an engine on which nothing has run has something of it", keeps)
		}
		a.Put(new(int), engine.Home())
		if _, fingerprint := caches.State(); (fingerprint != 0) != keeps {
			t.Errorf("keeps %v: fingerprint %#x", keeps, fingerprint)
		}
		if _, ok, kept := a.Acquire(&engine); !ok || kept != keeps {
			t.Errorf("keeps %v: kept %v", keeps, kept)
		}
		if _, _, kept := a.Acquire(&base.Place{}); kept {
			t.Errorf("keeps %v: a place of its own has kept something", keeps)
		}
		b.Put(new(int), engine.Home())
		if _, _, kept := a.Acquire(&engine); kept {
			t.Errorf("keeps %v: kept after another program has run", keeps)
		}
	}
}

// TestIdleWatchdog: a program whose client makes a pause keeps nothing, wherever it has run; one whose
// executions follow one another does.
func TestIdleWatchdog(t *testing.T) {
	for name, place := range map[string]base.Place{
		"for all": {}, "on an engine": {Memory: &coretest.Flat{}, Caches: &base.Caches{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var a Idle[*int]
			a.Put(new(int), place.Home())
			time.Sleep(idle.Time / 2)
			m, ok, _ := a.Acquire(&place)
			if !ok {
				t.Fatalf("%s: gone after half of the time", name)
			}
			a.Put(m, place.Home())
			time.Sleep(idle.Time)
			synctest.Wait()
			require.Same(t, 0, a.pool.Len(), name, "are left after a pause")
			if _, ok, _ := a.Acquire(&place); ok {
				t.Errorf("%s: found after a pause", name)
			}
		})
	}
}
