package exec

import (
	"slices"
	"testing"
)

// TestTables: every row of the semantics tables names an instruction.
func TestTables(t *testing.T) {
	check := func(name string, found bool) {
		if !found {
			t.Errorf("%s is in a table but not in the instruction set", name)
		}
	}
	for i := range vectorTable {
		check(vectorTable[i].name, contains(vectorSem()[:], &vectorTable[i]))
	}
	for i := range wideTable {
		check(wideTable[i].name, contains(wideSem()[:], &wideTable[i]))
	}
	for i := range specialTable {
		check(specialTable[i].name, contains(specialSem()[:], &specialTable[i]))
	}
	for i := range scalarTable {
		check(scalarTable[i].name, contains(scalarSem()[:], &scalarTable[i]))
	}
	if len(cmpTable()) < 100 {
		t.Errorf("%d compares", len(cmpTable()))
	}
}

func contains[T any](s []*T, p *T) bool {
	return slices.Contains(s, p)
}
