package legaltest

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// Forgotten checks that lowerings which serve several operations panic when a row lacks their parameter: by name, a
// call with the zero value.
func Forgotten(t *testing.T, rows map[string]func()) {
	t.Helper()
	for name, row := range rows {
		func() {
			defer func() {
				require.Check(t, recover() != nil, "%s of nothing makes a lowering", name)
			}()
			row()
		}()
	}
}
