package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// versionReport is the JSON object of version.
type versionReport struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Revision      string `json:"revision"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
	NNAPI         string `json:"nnapi"`
}

func newVersion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: "  nnsoc version --json",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

func printVersion(a *cli.App) error {
	v := versionReport{
		SchemaVersion: cli.SchemaVersion, Version: "devel", Revision: "unknown", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, NNAPI: "HAL 1.3",
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		if b.Main.Version != "" && b.Main.Version != "(devel)" {
			v.Version = b.Main.Version
		}
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, v)
	}
	_, err := fmt.Fprintf(a.Out, "nnsoc %s (%s, %s, %s, %s)\n", v.Version, v.Revision, v.Go, v.Platform, v.NNAPI)
	return err
}
