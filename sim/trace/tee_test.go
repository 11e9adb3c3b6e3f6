package trace

import (
	"bytes"
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// failing is a place to write that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestTee: both writers of a pair get all that one alone gets, and closing reports the error of either.
func TestTee(t *testing.T) {
	var alone, a, b bytes.Buffer
	record := func(w Writer) error {
		w.Processes("gpu", "dsp")
		w.Span("gpu", "queue", "conv", 10, 20, Arg{Key: "n", Value: 3})
		w.Span("dsp", "thread", "add", 15, 16)
		w.Counter("gpu", StallCounter("dram"), 12, 0.5)
		require.Same(t, 2, w.Spans(), "spans")
		return w.Close()
	}
	require.NoError(t, errors.Join(record(NewChrome(&alone)), record(Tee(NewChrome(&a), NewChrome(&b)))))
	if alone.Len() == 0 || a.String() != alone.String() || b.String() != alone.String() {
		t.Errorf("alone\n%s\nin a pair\n%s\nand\n%s", &alone, &a, &b)
	}
	require.Fails(t, record(Tee(NewChrome(failing{}), NewChrome(&a))), "the first cannot be written")
	require.Fails(t, record(Tee(NewChrome(&a), NewChrome(failing{}))), "the second cannot be written")
	if !IsStall(StallCounter("dram")) || IsStall("dram") || StallCounter("dram") != "stall: dram (%)" {
		t.Error("names of counters of stalls")
	}
}
