package module

import (
	"os"
	"testing"
	"time"
)

// TestWaits takes long and computes little: it stays.
func TestWaits(t *testing.T) {
	time.Sleep(600 * time.Millisecond)
	if Sum(1, 1) != 2 {
		t.Error("1 + 1 is not 2")
	}
}

// TestComputes takes more user CPU than TestTry of the tool allows, for as long as the clock of a process says.
func TestComputes(t *testing.T) {
	if os.Getenv("NNSOC_REACHED") == "" {
		t.Skip("skipped: for the tool alone")
	}
	for n := 0; ; n++ {
		_ = Sum(n, n)
	}
}
