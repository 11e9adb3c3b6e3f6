package modpy

import (
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// FuzzParse searches for specifications that panic, run away, or fail without a position.
func FuzzParse(f *testing.F) {
	for _, name := range specs(f) {
		src := require.File(f, name)
		f.Add(src)
	}
	for _, p := range programs {
		f.Add([]byte(p.src))
	}
	for _, p := range arrays {
		f.Add([]byte("import numpy as np\n" + p.src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := run("t.mod.py", "V1_2/t.mod.py", src, 1<<17, 1<<17)
		if err == nil {
			for _, c := range file.Cases {
				if c.Model == nil && c.Malformed == nil {
					t.Fatalf("case %s has no model", c.Name)
				}
				if m := c.Model; m != nil && (len(m.Main.Inputs) != len(c.Inputs) || len(m.Main.Outputs) != len(c.Outputs)) {
					t.Fatalf("case %s has %d and %d values", c.Name, len(c.Inputs), len(c.Outputs))
				}
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("error %T: %v", err, err)
		}
	})
}
