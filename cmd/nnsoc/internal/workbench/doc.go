// Package workbench holds the commands that look at many runs: sweeps of a machine, and what
// is made of their results.
package workbench

import (
	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// Commands returns the commands of the package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{NewSweep(a), NewDiff(a), NewSensitivity(a), NewAdvise(a), NewPlot(a)}
}
