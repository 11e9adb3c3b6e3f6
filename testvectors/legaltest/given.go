package legaltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
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

// Missing leaves out one row of a table after the other: what it said must be missed by name. Rows of types of which no
// operation needs a row are skipped.
func Missing[L any](t *testing.T, c legal.Config, rows []legal.Row[L]) {
	t.Helper()
	var lacks legal.Types
	for _, r := range rows {
		if slices.Equal(r.Operations, legal.Others) {
			lacks = append(lacks, r.Types...)
		}
	}
	missed := 0
	for i, r := range rows {
		if !slices.ContainsFunc(r.Types, func(typ nn.OperandType) bool { return !slices.Contains(lacks, typ) }) {
			continue
		}
		missed++
		_, err := legal.New(c, slices.Delete(slices.Clone(rows), i, i+1)...)
		named := err != nil && slices.ContainsFunc(r.Operations, func(op nn.OperationType) bool {
			return strings.Contains(err.Error(), fmt.Sprintf("no row for %s of ", op))
		})
		require.Check(t, named, "the table without the row of %v: error %v", r.Operations, err)
	}
	require.Check(t, missed > 30, "%d rows would be missed", missed)
}
