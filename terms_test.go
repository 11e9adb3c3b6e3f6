package nnsoc

import (
	"go/ast"
	"regexp"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// everyday are names of functions that say nothing to an engineer: a device accepts, a cache is queried, an account is
// updated, memory is allocated, work is distributed. Hexagon's vdeal keeps its name.
var everyday = regexp.MustCompile(`^([Tt]akes?|[Tt]aken|[Aa]sks?|[Ss]ettle|[Ss]peak|[Hh]ands?|[Ee]at|[Hh]ouse)([A-Z]|$)`)

// TestTerms holds drivers, cores and the language of models to terms of the field.
func TestTerms(t *testing.T) {
	_, files := goFiles(t)
	for path, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && enumTrees.MatchString(path) && everyday.MatchString(fn.Name.Name) {
				t.Errorf("%s: %s", path, fn.Name.Name)
			}
		}
	}
	for name, want := range map[string]bool{"Take": true, "takeTemp": true, "Handler": false, "task": false, "asks": true, "Deal": false} {
		require.Same(t, want, everyday.MatchString(name), name, !want)
	}
}
