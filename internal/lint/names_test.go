package lint

import (
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// sharedNames are the names that two packages may have, with the reason.
var sharedNames = map[string]string{
	"asm":    "the assembler of an instruction set; the folder above names the set",
	"cache":  "of compilations in hal, of memory in sim: layers that never meet",
	"export": "the writer of a format; the folder above names the format",
	"mlts":   "rules of conformance have the names of what they hold",
	"nnapi":  "vectors have the name of what they test",
}

// room is a package below a driver: the three have the same rooms, by the same names.
var room = regexp.MustCompile(`^hal/driver/\w+driver/`)

// misnamed lists the packages, "name path" each, whose name is not their folder's, or is another's.
func misnamed(packages []string) (problems []string) {
	of := map[string]string{}
	for _, p := range packages {
		name, at, _ := strings.Cut(p, " ")
		switch at = strings.TrimPrefix(at, module); {
		case name == "main" || strings.HasPrefix(at, "docs/examples/"):
			continue
		case name != path.Base(at):
			problems = append(problems, fmt.Sprintf("%s is package %s", at, name))
		}
		if strings.Contains(at+"/", "internal/") || sharedNames[name] != "" {
			continue
		}
		name = room.FindString(at) + name
		if of[name] != "" {
			problems = append(problems, fmt.Sprintf("%s has the name of %s", at, of[name]))
		}
		of[name] = at
	}
	return problems
}

// TestPackageNames holds that a file which uses two packages of the module need rename neither.
func TestPackageNames(t *testing.T) {
	out := require.V(exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...").Output())(t)
	list := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Check(t, len(list) >= 10, "only %d packages seen", len(list))
	for _, problem := range misnamed(list) {
		t.Error(problem)
	}
	for _, c := range [][2]string{
		{"nnrt runtime", "runtime is package nnrt"},
		{"dsp dsp, dsp hal/driver/dsp", "hal/driver/dsp has the name of dsp"},
		{"a hal/driver/xdriver/a, a hal/driver/xdriver/b/a", "hal/driver/xdriver/b/a has the name of hal/driver/xdriver/a"},
		{"a a, a hal/driver/xdriver/a, a hal/driver/ydriver/a, a b/internal/a, asm asm, asm b/asm, main cmd", ""},
	} {
		require.Same(t, c[1], strings.Join(misnamed(strings.Split(c[0], ", ")), "; "), c[0])
	}
}
