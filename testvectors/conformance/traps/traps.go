// Package traps has small models for common errors of NNAPI implementations: sections G.2 and I.1 to I.3 of the table
// of obligations, as specifications in the form of Android's own. The expected values follow from the rule beside each
// case, computed by hand and never taken from a run.
package traps

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/importer/modpy"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/try"
)

//go:embed prelude.py *.mod.py
var specs embed.FS

// Trap is a case and the row of the table that it proves, such as I1-14. Those of section G.2 are not executed:
// their Version is what their models need, 1.2 as 12.
type Trap struct {
	Row     string
	Case    *vectors.Case
	Version int
}

// rowOf finds the row in the name of a case, the specification's before that of the example, and the version.
var rowOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z]+_([GI]\d)_(\d+)(?:_.*?)?(?:_v(1\d)(?:_\d+)?)?$`)
})

// All lists the traps in the order of the specifications. They are read once.
var All = sync.OnceValues(func() (_ []Trap, err error) {
	defer try.Catch(&err)
	prelude := try.V(specs.ReadFile("prelude.py"))
	names := try.V(fs.Glob(specs, "*.mod.py"))
	var list []Trap
	for _, name := range names {
		text := try.V(specs.ReadFile(name))

		f, err := modpy.Parse("V1_3/"+name, append(append(prelude, '\n'), text...))
		if err != nil {
			return nil, fmt.Errorf("traps: prelude.py before %s: %w", name, err)
		}
		for _, c := range f.Cases {
			row := rowOf().FindStringSubmatch(c.Name)
			if row == nil {
				return nil, fmt.Errorf("traps: %s: case %s names no row", name, c.Name)
			}
			if strings.Contains(c.Name, "_all_") {
				continue // the same with constants as inputs
			}
			version, _ := strconv.Atoi(row[3])
			list = append(list, Trap{row[1] + "-" + row[2], c, version})
		}
	}
	return list, nil
})
