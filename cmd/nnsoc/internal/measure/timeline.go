package measure

import (
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// TraceFlags are the file of a timeline and its format.
type TraceFlags struct {
	File   string
	format string
}

// Formats of --trace-format, and the endings of files that imply one.
const (
	TraceJSON     = "json"
	TracePerfetto = "pftrace"
)

var perfettoEndings = []string{".pftrace", ".perfetto-trace"}

// Add adds the flags.
func (f *TraceFlags) Add(fl *pflag.FlagSet) {
	fl.StringVar(&f.File, "trace", "", "write a timeline to this file, compressed if it ends with .gz")
	cli.MarkFile(fl, "trace")
	fl.StringVar(&f.format, "trace-format", "", "format of the timeline: json (Chrome trace events) or pftrace (Perfetto); default: pftrace if the file ends with .pftrace, else json")
}

// Timeline is the trace file of a command; nil without one.
type Timeline struct {
	file *cli.File
	zip  *gzip.Writer // nil: not compressed
	session.Timeline
}

// Open begins the file.
func (f *TraceFlags) Open() (*Timeline, error) {
	if f.File == "" {
		if f.format != "" {
			return nil, cli.Usage(fmt.Errorf("--trace-format does nothing without --trace"))
		}
		return nil, nil
	}
	name, zipped := strings.CutSuffix(f.File, ".gz")
	format := f.format
	if format == "" {
		format = TraceJSON
		if slices.ContainsFunc(perfettoEndings, func(end string) bool { return strings.HasSuffix(name, end) }) {
			format = TracePerfetto
		}
	}
	if format != TraceJSON && format != TracePerfetto {
		return nil, cli.Usage(fmt.Errorf("unknown --trace-format %q; there are json, pftrace", format))
	}
	file, err := cli.CreateFile(f.File)
	if err != nil {
		return nil, err
	}
	t := &Timeline{file: file}
	var w io.Writer = file
	if zipped {
		t.zip = gzip.NewWriter(file)
		w = t.zip
	}
	if format == TracePerfetto {
		t.Writer = trace.NewPerfetto(w)
	} else {
		t.Writer = trace.NewChrome(w)
	}
	return t, nil
}

// Also draws in w as well all that is drawn in t, which may be nil.
func (t *Timeline) Also(w trace.Writer) *Timeline {
	if t == nil {
		return &Timeline{Timeline: session.Timeline{Writer: w}}
	}
	t.Writer = trace.Tee(t.Writer, w)
	return t
}

// Commit ends the file and puts it in its place.
func (t *Timeline) Commit() error {
	if t == nil || t.file == nil {
		return nil
	}
	if t.Writer.Spans() == 0 {
		return cli.Usage(fmt.Errorf("--trace %s: nothing was traced, no device ran the network", t.file.Path))
	}
	err := t.Writer.Close()
	if err == nil && t.zip != nil {
		err = t.zip.Close()
	}
	if err != nil {
		return err // discard does the rest
	}
	f := t.file
	t.file = nil
	return f.Commit(0o644)
}

// Discard removes an uncommitted trace.
func (t *Timeline) Discard() {
	if t != nil && t.file != nil {
		t.file.Discard()
	}
}
