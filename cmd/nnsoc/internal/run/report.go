package run

import (
	htmlreport "github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
)

// report is what a command says of its runs.
type report struct {
	machine *machine.Machine
	data    session.Report
	all     bool                 // print every operation
	drawn   *htmlreport.Recorder // with --html
	style   cli.Style            // of the text
}

func (r *report) object() any { return r.data }

// verdict is an error when a result differs from the reference, or a device has none.
func (r *report) verdict() error {
	if err := r.data.Failed(); err != nil {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: err}
	}
	return nil
}
