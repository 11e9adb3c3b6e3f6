package lint

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the rules in the root of the module, so that paths in messages are the ones that a reader sees.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(m.Run())
}
