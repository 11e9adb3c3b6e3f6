package family

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestEveryFunctionHasItsRow: what lowers operations is named by the table, and the table is whole.
func TestEveryFunctionHasItsRow(t *testing.T) {
	legaltest.Functions(t, ".")
	if n := len(Table().Facts()); n < 300 {
		t.Errorf("the table says something of %d operations and types", n)
	}
}

// TestRowsGive: a row that forgets an instruction or a function does not lower as another operation.
func TestRowsGive(t *testing.T) {
	legaltest.Forgotten(t, map[string]func(){
		"compares": func() { compares(comparison{swap: true}) },
		"extreme":  func() { extreme(0) },
		"logical":  func() { logical(0) },
		"fold":     func() { fold(0) },
		"onWords":  func() { onWords(nil) },
	})
}

// TestForgottenRow: an operation without its row is named, and not refused for a reason that is not its own.
func TestForgottenRow(t *testing.T) { legaltest.Missing(t, config(), legalRows()) }
