// Package oracle is for tests that compare the simulator with public tools or with recorded results of such tools. They
// run in `make oracle` only: the other tests need nothing but Go.
package oracle

import (
	"os"
	"os/exec"
	"testing"
)

// Variable requests the tests, when set to 1 or, for those that try a sample of many cases otherwise, to whole.
const Variable = "NNSOC_ORACLE"

// Need skips a test unless `make oracle` runs it and the tools are there.
func Need(t testing.TB, tools ...string) {
	t.Helper()
	if v := os.Getenv(Variable); v != "1" && v != "whole" {
		t.Skip("skipped: needs make oracle")
	}
	for _, name := range tools {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("skipped: needs " + name)
		}
	}
}

// Whole reports whether tests that try a sample of many cases are to try all of them.
func Whole() bool { return os.Getenv(Variable) == "whole" }
