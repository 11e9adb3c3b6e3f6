package legaltest

import "testing"

// Forgotten demands that lowerings which serve several operations panic when a row gives them
// nothing: by name, what makes one from a zero value.
func Forgotten(t *testing.T, rows map[string]func()) {
	t.Helper()
	for name, row := range rows {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of nothing makes a lowering", name)
				}
			}()
			row()
		}()
	}
}
