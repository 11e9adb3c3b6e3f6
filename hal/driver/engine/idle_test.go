package engine

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim/coretest"
)

// TestIdle: on an engine an execution finds what its program has left there last, until another program has
// run; elsewhere it finds what is in the pool, which engines do not share.
func TestIdle(t *testing.T) {
	type machine struct{ id int }
	var a, b Idle[*machine]
	var caches base.Caches
	engine := base.Place{Memory: &coretest.Flat{}, Caches: &caches}
	if m, ok := a.Take(&engine); ok {
		t.Fatalf("an idle engine has %v", m)
	}
	first := &machine{1}
	a.Leave(first, engine.Home())
	if m, ok := a.Take(&base.Place{}); ok {
		t.Errorf("a place of its own has %v", m)
	}
	if m, ok := a.Take(&engine); !ok || m != first {
		t.Errorf("took %v, %v", m, ok)
	}
	if m, ok := a.Take(&engine); ok {
		t.Errorf("took %v twice", m)
	}
	a.Leave(first, engine.Home())
	if _, ok := b.Take(&engine); ok {
		t.Error("another program has found it")
	}
	if _, ok := a.Take(&engine); ok {
		t.Error("found after another program has run")
	}
	if _, fingerprint := caches.State(); fingerprint != 0 {
		t.Errorf("fingerprint %#x of caches that are cold", fingerprint)
	}
}
