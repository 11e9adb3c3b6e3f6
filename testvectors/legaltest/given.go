package legaltest

import "testing"

// Forgotten checks that lowerings which serve several operations panic when a row lacks their parameter: by name, a
// call with the zero value.
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
