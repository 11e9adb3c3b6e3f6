package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/nnsoc/nnsoc/hal/driver/base"
)

// vlogVariable names the parts of the runtime to log, like Android's property
// debug.nn.vlog: names from vlogTags, separated by commas, or "all".
const vlogVariable = "NNSOC_VLOG"

// The tags that a log event may have, after Android's.
const (
	vlogModel       = "model"       // models, their operations and inputs
	vlogCompilation = "compilation" // partitions and what falls back to the CPU
	vlogExecution   = "execution"   // the cost of each part
	vlogManager     = "manager"     // devices that are found
)

var vlogTags = []string{vlogModel, vlogCompilation, vlogExecution, base.LogCPU, vlogManager, base.LogDriver, base.LogMemory}

// driverLog passes on what drivers log. It implements base.Logger.
type driverLog struct{ v *verbosity }

// Enabled implements base.Logger.
func (l driverLog) Enabled(tag string) bool { return slices.Contains(l.v.tags, tag) }

// Log implements base.Logger.
func (l driverLog) Log(tag, device, message string) {
	l.v.log.Debug().Str("tag", tag).Str("device", device).Msg(message)
}

// verbosity is what the user wants to read on stderr beside errors.
type verbosity struct {
	verbose, quiet bool
	tags           []string // of NNSOC_VLOG
	log            zerolog.Logger
}

// open checks the flags and the variable and makes the logger.
func (v *verbosity) open(w io.Writer, vlog string) error {
	if v.verbose && v.quiet {
		return usage(errors.New("--verbose and --quiet contradict each other"))
	}
	v.log = zerolog.New(zerolog.ConsoleWriter{Out: w, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName}})
	v.tags = nil
	for _, tag := range strings.FieldsFunc(vlog, func(r rune) bool { return r == ',' || r == ' ' || r == ':' }) {
		switch {
		case tag == "all" || tag == "1":
			v.tags = vlogTags
		case slices.Contains(vlogTags, tag):
			v.tags = append(v.tags, tag)
		default:
			return usage(fmt.Errorf("%s: no tag %q; there are %s and all", vlogVariable, tag, strings.Join(vlogTags, ", ")))
		}
	}
	return nil
}

// vlog begins an event; nil, on which methods do nothing, when nobody reads
// events of its tag.
func (v *verbosity) vlog(tag string) *zerolog.Event {
	if !v.verbose && !slices.Contains(v.tags, tag) {
		return nil
	}
	return v.log.Debug().Str("tag", tag)
}

// progress is the progress line of the command; silent with --quiet.
func (a *app) progress() *progress {
	if a.quiet {
		return newProgress(io.Discard)
	}
	return newProgress(a.err)
}

// openLog reads the flags and the environment.
func (a *app) openLog() error { return a.verbosity.open(a.err, os.Getenv(vlogVariable)) }
