package exec

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// TestTables: every row of the semantics tables names an instruction, and its class.
func TestTables(t *testing.T) {
	check := func(name string, found bool, class state.Class) {
		if class == state.ClassNone {
			t.Errorf("%s has no class", name)
		}
		if !found {
			t.Errorf("%s is in a table but not in the instruction set", name)
		}
	}
	for i := range vectorTable {
		check(vectorTable[i].name, contains(vectorSem()[:], &vectorTable[i]), vectorTable[i].class)
	}
	for i := range wideTable {
		check(wideTable[i].name, contains(wideSem()[:], &wideTable[i]), wideTable[i].class)
	}
	for i := range specialTable {
		check(specialTable[i].name, contains(specialSem()[:], &specialTable[i]), specialTable[i].class)
	}
	for i := range scalarTable {
		check(scalarTable[i].name, contains(scalarSem()[:], &scalarTable[i]), state.ClassSALU)
	}
	if len(cmpTable()) < 100 {
		t.Errorf("%d compares", len(cmpTable()))
	}
}

func contains[T any](s []*T, p *T) bool {
	return slices.Contains(s, p)
}
