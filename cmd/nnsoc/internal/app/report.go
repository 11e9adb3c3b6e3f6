package app

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/bench/applog"
	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/internal/try"
)

// report is the JSON object of app.
type report struct {
	SchemaVersion int                `json:"schema_version"`
	Program       string             `json:"program"`
	ExitStatus    int                `json:"exit_status"`
	SoC           string             `json:"soc"`
	Processes     []processEntry     `json:"app_processes"`    // processes that opened a phone, in the order in which they did
	Compilations  []compilationEntry `json:"app_compilations"` // models that were compiled, by process

	log *applog.Log
}

// processEntry is a process with a phone.
type processEntry struct {
	ID      int      `json:"process_id"`
	Program string   `json:"program"` // its file, without the folder
	Devices []string `json:"device_names"`
}

// compilationEntry is a model that was compiled, with its executions.
type compilationEntry struct {
	Process    int             `json:"process_id"`
	Number     int             `json:"compilation_number"`
	Model      string          `json:"architecture_hash"`
	Result     string          `json:"result"` // the result code of Compilation_finish
	HostMs     float64         `json:"compile_host_ms"`
	CacheHits  int             `json:"cache_hits"`
	Operations int             `json:"operation_count"`
	Types      map[string]int  `json:"operations_by_type"`
	Parts      []partEntry     `json:"app_parts"` // parts of the model, in the order of execution
	Fallbacks  []fallbackEntry `json:"fallbacks"`
	SavedFile  string          `json:"saved_file,omitempty"` // of --save-models
	SaveError  string          `json:"save_error,omitempty"`
	Executions int             `json:"executions"`
	Failed     int             `json:"failed"` // executions that ended with an error
	Results    map[string]int  `json:"failed_results,omitempty"`
	FirstUs    float64         `json:"first_us"` // latency of the first execution
	MeanUs     float64         `json:"mean_us"`
	MinimumUs  float64         `json:"min_us"`
	P50Us      float64         `json:"p50_us"`
	P90Us      float64         `json:"p90_us"`
	P99Us      float64         `json:"p99_us"`
	MaximumUs  float64         `json:"max_us"`
	EnergyUj   float64         `json:"energy_uj"` // of all executions
	Check      *checkEntry     `json:"reference_check,omitempty"`
	summary    *applog.Summary
}

// partEntry is a part of a model.
type partEntry struct {
	Device     string  `json:"device"`
	Subgraph   string  `json:"subgraph_role,omitempty"`
	Operations []int   `json:"operation_indices"`
	MeanUs     float64 `json:"mean_us"` // 0 where control flow decides how often it runs
}

// fallbackEntry is an operation that a device declined.
type fallbackEntry struct {
	Index  int    `json:"index"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// checkEntry is the comparison of the executions of a compilation with the reference.
type checkEntry struct {
	Compared    int    `json:"compared"`  // executions that were compared
	Differing   int    `json:"differing"` // executions with a difference
	Difference  string `json:"first_difference,omitempty"`
	NotCompared string `json:"not_compared_reason,omitempty"`
}

// newReport reads what a program has left. There is no file where it did not load the library.
func newReport(file, program, socName string, code int) (r *report, err error) {
	defer try.Catch(&err)
	r = &report{SchemaVersion: cli.SchemaVersion, Program: program, ExitStatus: code, SoC: socName, log: &applog.Log{}, Processes: []processEntry{}, Compilations: []compilationEntry{}}
	f, err := os.Open(file)
	if err != nil {
		return r, nil
	}
	defer f.Close()
	r.log = try.V(applog.Read(f))
	if len(r.log.Processes) > 0 {
		r.SoC = r.log.Processes[0].SoC
	}
	for _, p := range r.log.Processes {
		r.Processes = append(r.Processes, processEntry{p.ID, p.Program, p.Devices})
	}
	for _, s := range r.log.Summarize() {
		r.Compilations = append(r.Compilations, newCompilationEntry(s))
	}
	return r, nil
}

func newCompilationEntry(s *applog.Summary) compilationEntry {
	d := &s.Latency
	e := compilationEntry{
		Process: s.Process, Number: s.Number, Model: s.Model, Result: s.Result, HostMs: s.HostMs, CacheHits: s.CacheHits, Operations: s.Operations, Types: s.Types,
		Executions: len(s.Executions), Failed: s.Failed, Results: s.Results, EnergyUj: s.EnergyUj,
		FirstUs: d.FirstUs, MeanUs: d.MeanUs, MinimumUs: d.MinimumUs, P50Us: d.P50Us, P90Us: d.P90Us, P99Us: d.P99Us, MaximumUs: d.MaximumUs,
		Parts: []partEntry{}, Fallbacks: []fallbackEntry{}, summary: s,
	}
	for i, p := range s.Parts {
		e.Parts = append(e.Parts, partEntry{p.Device, p.Subgraph, p.Operations, s.PartUs[i]})
	}
	for _, f := range s.Fallbacks {
		e.Fallbacks = append(e.Fallbacks, fallbackEntry{f.Operation, f.Type, f.Reason})
	}
	if s.Saved != nil {
		e.SavedFile, e.SaveError = s.Saved.File, s.Saved.Error
	}
	if s.Compared > 0 || s.NotCompared != "" {
		e.Check = &checkEntry{s.Compared, s.Differing, s.Difference, s.NotCompared}
	}
	return e
}

// verdict is the exit code: the program's, or that of a difference.
func (r *report) verdict() error {
	if r.ExitStatus != 0 {
		return &cli.ExitError{Code: r.ExitStatus}
	}
	for i := range r.Compilations {
		if c := &r.Compilations[i]; c.Check != nil && c.Check.Differing > 0 {
			return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("compilation %d: %d of %d executions differ from the reference: %s", c.Number, c.Check.Differing, c.Check.Compared, c.Check.Difference)}
		}
	}
	return nil
}

// write prints the report and writes the files that flags name.
func (r *report) write(a *cli.App, f *flags, t *measure.Timeline) (err error) {
	defer try.Catch(&err)
	if len(r.Processes) == 0 {
		fmt.Fprintf(a.Err, "nnsoc: warning: %s has not used NNAPI: no process opened the phone\n", r.Program)
	}
	if t != nil {
		if r.draw(t.Writer); t.Writer.Spans() == 0 {
			fmt.Fprintf(a.Err, "nnsoc: warning: --trace %s: not written, nothing was executed\n", f.trace.File)
		} else {
			try.E(t.Commit())
		}
	}
	if f.report != "" {
		try.E(cli.WriteFile(f.report, try.V(r.page())))
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.text(a.Out)
}

// totals are the figures of all compilations together.
func (r *report) totals() (executions int, ms, uj float64) {
	for i := range r.Compilations {
		c := &r.Compilations[i]
		executions += c.Executions
		ms += c.MeanUs * float64(c.summary.Latency.Count) / 1e3
		uj += c.EnergyUj
	}
	return executions, ms, uj
}

// title is the report in one sentence.
func (r *report) title() string {
	n, ms, uj := r.totals()
	s := fmt.Sprintf("%s on %s: %s, %s; %.3f ms and %.1f uJ on the phone", r.Program, r.SoC, counted(len(r.Compilations), "compilation"), counted(n, "execution"), ms, uj)
	if len(r.Processes) > 1 {
		s += fmt.Sprintf(", in %d processes", len(r.Processes))
	}
	return s
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func (r *report) text(w io.Writer) (err error) {
	defer try.Catch(&err)
	fmt.Fprintln(w, r.title())
	for i := range r.Compilations {
		c := &r.Compilations[i]
		fmt.Fprintf(w, "\n%s\n", c.heading(r))
		for _, line := range c.notes() {
			fmt.Fprintf(w, "  %s\n", line)
		}
		if len(c.Parts) > 0 {
			try.E(table.WriteText(w, partColumns, c.rows()))
		}
		if c.Executions > 0 {
			try.E(table.WriteText(w, executionColumns, []*compilationEntry{c}))
		}
	}
	return nil
}

// heading names a compilation, with its process where there are several.
func (c *compilationEntry) heading(r *report) string {
	s := fmt.Sprintf("compilation %d", c.Number)
	if len(r.Processes) > 1 {
		s += fmt.Sprintf(" of process %d", c.Process)
	}
	if c.Result != applog.Success {
		return s + ": " + c.Result
	}
	s += fmt.Sprintf(": %s (%s), compiled in %.1f ms of the host", counted(c.Operations, "operation"), typeList(c.Types), c.HostMs)
	if c.CacheHits > 0 {
		s += fmt.Sprintf(", %d of %s from the cache", c.CacheHits, counted(len(c.Parts), "part"))
	}
	return s
}

// shownTypes bounds the types in a heading.
const shownTypes = 6

// typeList lists types of operations, the most frequent first.
func typeList(types map[string]int) string {
	names := slices.SortedFunc(maps.Keys(types), func(a, b string) int { return cmp.Or(cmp.Compare(types[b], types[a]), cmp.Compare(a, b)) })
	var list []string
	for i, name := range names {
		if i == shownTypes {
			list = append(list, fmt.Sprintf("%d other types", len(names)-i))
			break
		}
		list = append(list, fmt.Sprintf("%d %s", types[name], name))
	}
	return strings.Join(list, ", ")
}

// notes are lines about what did not go by itself.
func (c *compilationEntry) notes() (lines []string) {
	reasons := map[string][]int{}
	var order []string
	for _, f := range c.Fallbacks {
		key := f.Type + ": " + f.Reason
		if reasons[key] == nil {
			order = append(order, key)
		}
		reasons[key] = append(reasons[key], f.Index)
	}
	for _, key := range order {
		lines = append(lines, fmt.Sprintf("on the CPU: %s %s", indices(reasons[key]), key))
	}
	for _, code := range slices.Sorted(maps.Keys(c.Results)) {
		lines = append(lines, fmt.Sprintf("%s ended with %s", counted(c.Results[code], "execution"), code))
	}
	if k := c.Check; k != nil {
		line := fmt.Sprintf("reference: %d of %d executions compared, %d differ", k.Compared, c.Executions-c.Failed, k.Differing)
		if text := cmp.Or(k.Difference, k.NotCompared); text != "" {
			line += " (" + text + ")"
		}
		lines = append(lines, line)
	}
	if c.SavedFile != "" {
		lines = append(lines, "saved as "+c.SavedFile)
	}
	if c.SaveError != "" {
		lines = append(lines, "not saved: "+c.SaveError)
	}
	return lines
}

// indices writes a list of operations with ranges, as 0-3, 7.
func indices(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, strconv.Itoa(list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}

// partRow is a part with its number.
type partRow struct {
	*partEntry
	number int
}

func (c *compilationEntry) rows() (rows []partRow) {
	for i := range c.Parts {
		rows = append(rows, partRow{&c.Parts[i], i + 1})
	}
	return rows
}

// partColumns are the columns of parts.
var partColumns = table.Columns[partRow]{
	{Name: "part", Meaning: "its number, from 1", Cell: func(r partRow) any { return r.number }},
	{Name: "device", Meaning: "the device that runs it", Cell: func(r partRow) any { return r.Device }},
	{Name: "mean", Unit: "us", Digits: 1, Meaning: "mean time in an execution", Cell: func(r partRow) any {
		if r.MeanUs == 0 {
			return nil
		}
		return r.MeanUs
	}},
	{Name: "operations", Meaning: "operations of the model", Cell: func(r partRow) any {
		s := indices(r.Operations)
		if r.Subgraph != "" {
			s = r.Subgraph + ": " + s
		}
		return s
	}},
}

// executionColumns are the columns of the executions of a compilation.
var executionColumns = table.Columns[*compilationEntry]{
	{Name: "executions", Meaning: "executions that ended", Cell: func(c *compilationEntry) any { return c.Executions }},
	microseconds("first", func(c *compilationEntry) float64 { return c.FirstUs }),
	microseconds("mean", func(c *compilationEntry) float64 { return c.MeanUs }),
	microseconds("p50", func(c *compilationEntry) float64 { return c.P50Us }),
	microseconds("p90", func(c *compilationEntry) float64 { return c.P90Us }),
	microseconds("p99", func(c *compilationEntry) float64 { return c.P99Us }),
	microseconds("max", func(c *compilationEntry) float64 { return c.MaximumUs }),
	{Name: "energy", Unit: "uJ", Digits: 1, Meaning: "energy of all executions", Cell: func(c *compilationEntry) any { return c.EnergyUj }},
}

// microseconds is a column of latencies.
func microseconds(name string, of func(*compilationEntry) float64) table.Column[*compilationEntry] {
	return table.Column[*compilationEntry]{Name: name, Unit: "us", Digits: 1, Meaning: name + " latency", Cell: func(c *compilationEntry) any { return of(c) }}
}
