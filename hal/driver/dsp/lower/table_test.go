package lower

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
