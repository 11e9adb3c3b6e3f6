package numpy

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// TestNames finds functions that are listed and not implemented.
func TestNames(t *testing.T) {
	one := starlark.NewList([]starlark.Value{starlark.MakeInt(1)})
	for _, list := range [][]string{arrayMethodNames, otherNumpy, {"nothing"}} {
		for _, name := range list {
			_, err := numpyFunction(name)(new(starlark.Thread), starlark.Tuple{one, one, one, one, one, one, one}, nil)
			if missing := err != nil && strings.Contains(err.Error(), "not supported"); missing != (name == "nothing") {
				t.Errorf("numpy.%s: %v", name, err)
			}
		}
	}
}
