package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/graphdump"
)

// driverLog passes on the log of drivers. It implements base.Logger.
type driverLog struct{ v *verbosity }

// Enabled implements base.Logger.
func (l driverLog) Enabled(tag string) bool { return slices.Contains(l.v.tags, tag) }

// Log implements base.Logger.
func (l driverLog) Log(tag, device, message string) {
	l.v.log.Debug().Str("tag", tag).Str("device", device).Msg(message)
}

// DriverLogger is the logger of drivers.
func (v *verbosity) DriverLogger() base.Logger { return driverLog{v} }

// verbosity is the detail requested on stderr beside errors.
type verbosity struct {
	Verbose, Quiet bool
	tags           []string // of NNSOC_VLOG
	log            zerolog.Logger
}

// open checks the flags and the variable and makes the logger.
func (v *verbosity) open(w io.Writer, tags string) error {
	if v.Verbose && v.Quiet {
		return Usage(errors.New("--verbose and --quiet contradict each other"))
	}
	v.log = zerolog.New(zerolog.ConsoleWriter{Out: w, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName}})
	var err error
	if v.tags, err = vlog.Parse(tags); err != nil {
		return Usage(err)
	}
	return nil
}

// VLog begins an event; nil, on which methods do nothing, when events of its tag are not requested.
func (v *verbosity) VLog(tag string) *zerolog.Event {
	if !v.Verbose && !slices.Contains(v.tags, tag) {
		return nil
	}
	return v.log.Debug().Str("tag", tag)
}

// VLogGraph draws a model for whoever reads events of models, line by line.
func (v *verbosity) VLogGraph(m *nn.Model) {
	if !slices.Contains(v.tags, vlog.Model) {
		return
	}
	var b strings.Builder
	if err := graphdump.Write(&b, m.Name, m); err != nil {
		v.VLog(vlog.Model).Err(err).Msg("the model cannot be drawn")
		return
	}
	for line := range strings.Lines(b.String()) {
		v.VLog(vlog.Model).Msg(strings.TrimRight(line, "\n"))
	}
}

// Progress is the progress line of the command; silent with --quiet.
func (a *App) Progress() *Progress {
	if a.Quiet {
		return NewProgress(io.Discard)
	}
	return NewProgress(a.Err)
}

// Note writes a line on stderr about a choice that was made for the user; nothing with --quiet.
func (a *App) Note(format string, args ...any) {
	if !a.Quiet {
		fmt.Fprintf(a.Err, format+"\n", args...)
	}
}

// OpenLog reads the flags and the environment.
func (a *App) OpenLog() error { return a.verbosity.open(a.Err, os.Getenv(vlog.Variable)) }
