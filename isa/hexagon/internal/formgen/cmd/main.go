// Command cmd regenerates zops.go and docs/isa/hexagon.md from forms.txt; run it in isa/hexagon.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/formgen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "formgen:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	defer try.Catch(&err)
	text := try.V(os.ReadFile("forms.txt"))
	rows := try.V(formgen.Parse(string(text)))
	ops := try.V(formgen.Ops(rows))
	try.E(os.WriteFile("zops.go", ops, 0o644))
	manual := filepath.Join("..", "..", "docs", "isa", "hexagon.md")
	try.E(os.MkdirAll(filepath.Dir(manual), 0o755))
	return os.WriteFile(manual, formgen.Manual(rows), 0o644)
}
