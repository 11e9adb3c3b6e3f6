package traps

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestAll(t *testing.T) {
	list := require.V(All())(t)
	for _, x := range list {
		require.Check(t, x.Case.Model != nil || x.Case.ExpectFailure, "%s: %v", x.Case.Name, x.Case.Malformed)
	}
	require.Check(t, len(list) >= 150, "%d traps", len(list))
}
