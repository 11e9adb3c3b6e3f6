package driverkit

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/internal/try"
)

// New returns the command driver.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "driver",
		Short: "begin a driver of your own",
		Long: `driver helps to write a driver: new writes a module with one, proto prints the
protocol for a driver in another language, samples lists drivers for tests of clients.
docs/WritingADriver.md is the guide.`,
		Example: "  nnsoc driver new acme --checkout .\n  nnsoc driver proto > driver.proto",
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNew(a), newProto(a), newSamples(a))
	return cmd
}

// newProto returns the command driver proto.
func newProto(a *cli.App) *cobra.Command {
	var descriptor bool
	cmd := &cobra.Command{
		Use:   "proto",
		Short: "print the protocol between clients and drivers",
		Long: `proto prints driver.proto, the calls and messages between a client and a driver that is a
process of its own. --descriptor writes it compiled, as a FileDescriptorSet, for languages that
read messages without generated code. docs/Protocol.md explains it.`,
		Example: "  nnsoc driver proto > driver.proto\n  nnsoc driver proto --descriptor > driver.binpb",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			try.E(cli.Exclude(cmd, "descriptor", "json"))
			text := driverpb.Proto
			if descriptor {
				text = driverpb.Descriptor()
			} else if a.JSON {
				return cli.PrintJSON(a.Out, protocolReport{cli.SchemaVersion, string(text)})
			}
			_, err := a.Out.Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&descriptor, "descriptor", false, "write a FileDescriptorSet instead of text")
	return cmd
}

// protocolReport is the JSON object of driver proto.
type protocolReport struct {
	SchemaVersion int    `json:"schema_version"`
	Proto         string `json:"proto"`
}

// samplesReport is the JSON object of driver samples.
type samplesReport struct {
	SchemaVersion int      `json:"schema_version"`
	Samples       []string `json:"drivers"`
	Faulty        []string `json:"faulty_drivers"`
}

// newSamples returns the command driver samples.
func newSamples(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "samples",
		Short: "list the sample and faulty drivers",
		Long: `samples lists the sample drivers of Android's source tree and drivers with a planted fault.
Every --device accepts their names: to see how a planner, a test suite or
your own client handles them.`,
		Example: "  nnsoc driver samples\n  nnsoc run --device sample_quant\n  nnsoc serve --device faulty:hang-after=20 --socket hang.sock",
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			r := samplesReport{cli.SchemaVersion, sample.Names(), sample.FaultyNames()}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			for _, name := range r.Samples {
				fmt.Fprintln(a.Out, name)
			}
			for _, name := range r.Faulty {
				fmt.Fprintln(a.Out, name)
			}
			_, err := fmt.Fprintln(a.Out, "\nKIND-after=N is well for N executions; @DEVICE behind a name plants the fault in that device.")
			return err
		},
	}
}
