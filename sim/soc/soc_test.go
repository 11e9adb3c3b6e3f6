package soc_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/sim/soc"
)

func TestPresets(t *testing.T) {
	for _, n := range soc.Names() {
		if _, err := soc.Load(n); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
}
