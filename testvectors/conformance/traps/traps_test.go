package traps

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestAll(t *testing.T) {
	list := require.V(All())(t)
	for _, x := range list {
		if x.Case.Model == nil && !x.Case.ExpectFailure {
			t.Errorf("%s: %v", x.Case.Name, x.Case.Malformed)
		}
	}
	if len(list) < 150 {
		t.Errorf("%d traps", len(list))
	}
}
