package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// traceFlags say where a timeline goes and in which format.
type traceFlags struct {
	file   string
	format string
}

// Formats of --trace-format, and the endings of files that stand for one.
const (
	traceJSON     = "json"
	tracePerfetto = "pftrace"
)

var perfettoEndings = []string{".pftrace", ".perfetto-trace"}

func (f *traceFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.file, "trace", "", "write a timeline to this file, compressed if it ends with .gz")
	fl.StringVar(&f.format, "trace-format", "", "format of the timeline: json (Chrome trace events) or pftrace (Perfetto); default: pftrace if the file ends with .pftrace, else json")
}

// timeline is the trace file of a command; nil without one.
type timeline struct {
	file   *newFile
	zip    *gzip.Writer // nil: not compressed
	writer trace.Writer
}

// open begins the file.
func (f *traceFlags) open() (*timeline, error) {
	if f.file == "" {
		if f.format != "" {
			return nil, usage(fmt.Errorf("--trace-format does nothing without --trace"))
		}
		return nil, nil
	}
	name, zipped := strings.CutSuffix(f.file, ".gz")
	format := f.format
	if format == "" {
		format = traceJSON
		if slices.ContainsFunc(perfettoEndings, func(end string) bool { return strings.HasSuffix(name, end) }) {
			format = tracePerfetto
		}
	}
	if format != traceJSON && format != tracePerfetto {
		return nil, usage(fmt.Errorf("unknown --trace-format %q; there are json, pftrace", format))
	}
	file, err := createFile(f.file)
	if err != nil {
		return nil, err
	}
	t := &timeline{file: file}
	var w io.Writer = file
	if zipped {
		t.zip = gzip.NewWriter(file)
		w = t.zip
	}
	if format == tracePerfetto {
		t.writer = trace.NewPerfetto(w)
	} else {
		t.writer = trace.NewChrome(w)
	}
	return t, nil
}

func (t *timeline) commit() error {
	if t == nil {
		return nil
	}
	if t.writer.Spans() == 0 {
		return usage(fmt.Errorf("--trace %s: nothing was traced, no device ran the network", t.file.path))
	}
	err := t.writer.Close()
	if err == nil && t.zip != nil {
		err = t.zip.Close()
	}
	if err != nil {
		return err // discard does the rest
	}
	f := t.file
	t.file = nil
	return f.commit(0o644)
}

// discard removes an uncommitted trace.
func (t *timeline) discard() {
	if t != nil && t.file != nil {
		t.file.discard()
	}
}

// tracer draws a run: one process per device, named after the run too when that is of
// several devices, and one of the application.
func (t *timeline) tracer(run string) nnrt.Tracer {
	return &runTracer{writer: t.writer, application: run + ": application", phone: run + ": phone", process: func(device string) string {
		if device == run {
			return device
		}
		return run + ": " + device
	}}
}

// contender draws an execution, which begins at an instant, of a network beside others:
// one process per engine, and one of the network's application.
func (t *timeline) contender(c *contender, atFs int64) nnrt.Tracer {
	return &runTracer{
		writer: t.writer, application: c.model.Name + " on " + c.device, atFs: atFs,
		process: func(device string) string { return device },
	}
}

// runTracer implements nnrt.Tracer.
type runTracer struct {
	writer      trace.Writer
	application string                     // its process
	phone       string                     // the process of what the machine measures
	process     func(device string) string // of an engine
	atFs        int64                      // when the execution begins
}

// Span implements nnrt.Tracer. The name of a span says which operation it
// belongs to; its arguments are the costs of the whole operation. What an execution goes
// through outside of its engine is drawn by marks.
func (t *runTracer) Span(device string, s hal.Span, op *nnrt.OperationCost) {
	if op.Index == hal.LaunchIndex {
		return
	}
	name := s.Name
	args := []trace.Arg{{Key: "type", Value: op.Name()}}
	if op.Index >= 0 {
		name = fmt.Sprintf("%d %s", op.Index, op.Type)
		args = append(args, trace.Arg{Key: "operation", Value: op.Index}, trace.Arg{Key: "kernel", Value: s.Name},
			trace.Arg{Key: "inputs", Value: op.Inputs}, trace.Arg{Key: "outputs", Value: op.Outputs}, trace.Arg{Key: "macs", Value: op.MACs})
	}
	args = append(args, trace.Arg{Key: "cycles", Value: op.Cycles}, trace.Arg{Key: "stall", Value: op.BoundBy}, trace.Arg{Key: "stalls", Value: stallMap(op.Stalls)})
	t.writer.Span(t.process(device), s.Track, name, s.StartFs+t.atFs, s.EndFs+t.atFs, args...)
}

// Sample implements nnrt.Tracer.
func (t *runTracer) Sample(device string, c nnrt.Counter, atFs int64, value float64) {
	t.writer.Counter(t.process(device), c.String(), atFs+t.atFs, value)
}

// Mark implements nnrt.Tracer.
func (t *runTracer) Mark(thread string, m nntrace.Mark, startFs, endFs int64) {
	t.writer.Span(t.application, thread, m.String(), startFs+t.atFs, endFs+t.atFs)
}
