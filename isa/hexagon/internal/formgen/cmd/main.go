// Command cmd regenerates zops.go and docs/isa/hexagon.md from forms.txt; run it in isa/hexagon.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/isa/hexagon/internal/formgen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "formgen:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := os.ReadFile("forms.txt")
	if err != nil {
		return err
	}
	rows, err := formgen.Parse(string(text))
	if err != nil {
		return err
	}
	ops, err := formgen.Ops(rows)
	if err != nil {
		return err
	}
	if err := os.WriteFile("zops.go", ops, 0o644); err != nil {
		return err
	}
	manual := filepath.Join("..", "..", "docs", "isa", "hexagon.md")
	if err := os.MkdirAll(filepath.Dir(manual), 0o755); err != nil {
		return err
	}
	return os.WriteFile(manual, formgen.Manual(rows), 0o644)
}
