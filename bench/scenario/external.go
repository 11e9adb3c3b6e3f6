package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/internal/child"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// External is a strategy in a separate program, in any language. Both sides write JSON objects, one a line. The first
// that the program reads is {"problem": ExternalProblem}. It answers with
//
//	{"evaluate": ROUTES}  and reads {"prediction": ExternalPrediction}, as often as it wants
//	{"plan": ROUTES}      its plan; it may end
//	{"scheduler": true}   it decides while networks arrive
//
// where ROUTES lists, by network, the names of the engines of its parts, or one name for the whole network. A scheduler
// is started again for the prediction and for the simulation; behind the problem and its answer it reads
// {"decide": ExternalState} and answers {"job": INDEX, "parts": N}, -1 for none, until its input ends.
type External struct {
	name    string
	Command []string      // program and arguments
	Limit   time.Duration // of each answer; 0 is ten seconds
	// Started receives a function that ends a program and its children, in case this process ends first; it returns a
	// function to call when the program has ended. May be nil.
	Started func(end func()) (ended func())
}

// ProgramError is the error of a program that is a strategy.
type ProgramError struct{ error }

// Unwrap returns the cause.
func (e *ProgramError) Unwrap() error { return e.error }

// ExternalVersion is the version of the objects that a program reads and writes.
const ExternalVersion = 1

// ExternalProblem is a Problem as a program reads it. Times are microseconds, energies microjoules.
type ExternalProblem struct {
	Version  int               `json:"version"`
	Scenario *Scenario         `json:"scenario"`
	Devices  []string          `json:"devices"`
	Networks []ExternalNetwork `json:"networks"`
	Jobs     []ExternalJob     `json:"jobs"` // in the order of their arrivals
}

// ExternalNetwork is the costs of a network.
type ExternalNetwork struct {
	Model     string          `json:"model"`
	Quantized bool            `json:"quantized"`
	Whole     []*ExternalCost `json:"whole"` // by device; null where it does not run the network
	Parts     []ExternalPart  `json:"parts"` // one after the other; never empty
}

// ExternalPart is the costs of a part.
type ExternalPart struct {
	Operations []int           `json:"operations"`
	Bytes      int64           `json:"bytes"` // that later parts read
	Costs      []*ExternalCost `json:"costs"` // by device, in an execution of its own
}

// ExternalCost is a Cost.
type ExternalCost struct {
	TimeUS   float64 `json:"time_us"`
	EnergyUJ float64 `json:"energy_uj"`
	WakeUS   float64 `json:"wake_us"` // more of the first on an engine that has run nothing yet; 0 of parts
}

// ExternalJob is a Job.
type ExternalJob struct {
	Network    int     `json:"network"`
	Sequence   int     `json:"sequence"`
	Part       int     `json:"part"` // the next
	ArrivalUS  float64 `json:"arrival_us"`
	DeadlineUS float64 `json:"deadline_us"` // 0: none
	Priority   string  `json:"priority"`
}

// ExternalPrediction is a Prediction.
type ExternalPrediction struct {
	Missed   int     `json:"missed"`
	MeanUS   float64 `json:"mean_us"`
	P99US    float64 `json:"p99_us"`
	EnergyUJ float64 `json:"energy_uj"`
	SpanUS   float64 `json:"span_us"`
}

// ExternalState is a State.
type ExternalState struct {
	NowUS   float64       `json:"now_us"`
	Device  string        `json:"device"`
	FreeUS  []float64     `json:"free_us"` // by device
	Waiting []ExternalJob `json:"waiting"`
}

// externalAnswer is a line of the program.
type externalAnswer struct {
	Evaluate  [][]string `json:"evaluate"`
	Plan      [][]string `json:"plan"`
	Scheduler bool       `json:"scheduler"`
	Job       *int       `json:"job"`
	Parts     int        `json:"parts"`
}

// Limits of a program.
const (
	externalLimit       = 10 * time.Second
	maxAnswerBytes      = 4 << 20
	maxErrorBytes       = 4 << 10
	externalEvaluations = 100_000
)

// newExternal is the strategy of a command line, which must name a program that is there.
func newExternal(name, command string) (Strategy, error) {
	args := strings.Fields(command)
	if len(args) == 0 {
		return nil, fmt.Errorf("scenario: %s names no program", name)
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", name, err)
	}
	return &External{name: name, Command: args}, nil
}

// Name implements Strategy.
func (x *External) Name() string {
	if x.name == "" {
		return "exec:" + strings.Join(x.Command, " ")
	}
	return x.name
}

// Plan implements Strategy. Errors are ProgramErrors with the cause.
func (x *External) Plan(p *Problem) (plan Plan, err error) {
	r, err := x.start(p)
	if err != nil {
		return Plan{}, err
	}
	defer func() {
		if e := r.close(); err == nil && e != nil {
			plan, err = Plan{}, e
		}
	}()
	a, err := r.ask(nil)
	for n := 0; err == nil; n++ {
		switch {
		case a.Plan != nil:
			plan.Routes, err = p.named(a.Plan)
			if err == nil {
				err = p.Check(plan)
			}
			return plan, r.wrap(err)
		case a.Scheduler:
			return Plan{Scheduler: &externalScheduler{program: x, problem: p}}, nil
		case a.Evaluate == nil:
			return Plan{}, r.wrap(errors.New(`its answer is neither "evaluate", "plan" nor "scheduler"`))
		case n == externalEvaluations:
			return Plan{}, r.wrap(fmt.Errorf("more than %d evaluations", externalEvaluations))
		}
		var routes []Route
		if routes, err = p.named(a.Evaluate); err == nil {
			err = p.Check(Plan{Routes: routes})
		}
		if err != nil {
			return Plan{}, r.wrap(err)
		}
		y := Predict(p, Plan{Routes: routes})
		a, err = r.ask(map[string]any{"prediction": y.external()})
	}
	return Plan{}, err
}

// named converts names of engines to routes.
func (p *Problem) named(names [][]string) ([]Route, error) {
	var routes []Route
	for i, list := range names {
		var r Route
		for _, name := range list {
			d := slices.Index(p.Devices, name)
			if name == nnrt.ByStrategy && len(list) == 1 {
				d = Divided
			} else if d < 0 {
				return nil, fmt.Errorf("network %d: no device %q; there are %s", i, name, strings.Join(p.Devices, ", "))
			}
			r = append(r, d)
		}
		routes = append(routes, r)
	}
	return routes, nil
}

func (x *Prediction) external() ExternalPrediction {
	return ExternalPrediction{x.Missed, float64(x.MeanFs) / 1e9, float64(x.P99Fs) / 1e9, x.EnergyPJ / 1e6, float64(x.SpanFs) / 1e9}
}

func (p *Problem) external() *ExternalProblem {
	x := &ExternalProblem{Version: ExternalVersion, Scenario: p.Scenario, Devices: p.Devices}
	cost := func(c Cost) *ExternalCost {
		if !c.Runs() {
			return nil
		}
		return &ExternalCost{float64(c.LatencyFs) / 1e9, c.EnergyPJ / 1e6, float64(c.WakeFs) / 1e9}
	}
	for i := range p.Costs {
		n := ExternalNetwork{Model: p.Scenario.Networks[i].Model, Quantized: i < len(p.Quantized) && p.Quantized[i]}
		for d := range p.Devices {
			n.Whole = append(n.Whole, cost(p.Costs[i][d]))
		}
		for k := range p.parts(i) {
			part := ExternalPart{Operations: []int{}}
			if i < len(p.Parts) && k < len(p.Parts[i]) {
				part.Operations, part.Bytes = p.Parts[i][k].Operations, p.Parts[i][k].Bytes
			}
			for d := range p.Devices {
				part.Costs = append(part.Costs, cost(p.Cost(i, k, k+1, d)))
			}
			n.Parts = append(n.Parts, part)
		}
		x.Networks = append(x.Networks, n)
	}
	x.Jobs = externalJobs(p.Jobs)
	return x
}

func externalJobs(jobs []Job) []ExternalJob {
	list := make([]ExternalJob, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		list[i] = ExternalJob{j.Network, j.Sequence, j.Part, float64(j.ArrivalFs) / 1e9, float64(j.DeadlineFs) / 1e9, Priorities[j.Priority]}
	}
	return list
}

// externalScheduler asks a program, a new process for each run.
type externalScheduler struct {
	program *External
	problem *Problem
}

// Next implements Scheduler; begin returns what is asked in a run.
func (*externalScheduler) Next(*State, int) Choice { return idle }

// begin implements perRun.
func (s *externalScheduler) begin() (Scheduler, func() error, error) {
	r, err := s.program.start(s.problem)
	if err != nil {
		return nil, nil, err
	}
	a, err := r.ask(nil)
	if err == nil && !a.Scheduler {
		err = r.wrap(errors.New(`its answer is not "scheduler" again`))
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.close())
	}
	return r, r.close, nil
}

// perRun is a scheduler with a state: begin returns one for a run, and what ends that.
type perRun interface {
	begin() (Scheduler, func() error, error)
}

// running is a program at work. It implements Scheduler.
type running struct {
	*External
	problem *ExternalProblem
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte
	errs    child.Bounded
	end     func()
	ended   func()
	failed  error // the first
}

// start starts the program. Its first question is the problem.
func (x *External) start(p *Problem) (*running, error) {
	r := &running{External: x, problem: p.external(), cmd: exec.Command(x.Command[0], x.Command[1:]...), lines: make(chan []byte), errs: child.Bounded{Limit: maxErrorBytes}}
	r.end = child.Group(r.cmd)
	r.cmd.Stderr, r.cmd.WaitDelay = &r.errs, time.Second
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		r.in, err = r.cmd.StdinPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return nil, r.wrap(err)
	}
	r.ended = func() {}
	if x.Started != nil {
		r.ended = x.Started(r.end)
	}
	go func() {
		s := bufio.NewScanner(out)
		s.Buffer(nil, maxAnswerBytes)
		for s.Scan() {
			if line := bytes.TrimSpace(s.Bytes()); len(line) > 0 {
				r.lines <- bytes.Clone(line)
			}
		}
		close(r.lines)
		_, _ = io.Copy(io.Discard, out) // an answer that is too long does not block the program
	}()
	return r, nil
}

// wrap names the program in an error.
func (x *External) wrap(err error) error {
	if err == nil {
		return nil
	}
	return &ProgramError{fmt.Errorf("scenario: %s: %w", x.Name(), err)}
}

// ask writes a question, nil for the problem, and reads the answer.
func (r *running) ask(question any) (a externalAnswer, err error) {
	if r.failed != nil {
		return a, r.failed
	}
	defer func() {
		if err = r.wrap(err); err != nil && r.failed == nil {
			r.failed = err
		}
	}()
	if question == nil {
		question = map[string]any{"problem": r.problem}
	}
	text, err := json.Marshal(question)
	if err != nil {
		return a, err
	}
	go func() { _, _ = r.in.Write(append(text, '\n')) }() // which may wait for the program until that is ended
	limit := r.Limit
	if limit == 0 {
		limit = externalLimit
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case line, ok := <-r.lines:
		if !ok {
			return a, r.silent()
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil {
			return a, fmt.Errorf("its answer %.60q: %w", line, err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return a, fmt.Errorf("its answer %.60q: more than one object on a line", line)
		}
		return a, nil
	case <-timer.C:
		r.end()
		return a, fmt.Errorf("no answer within %v", limit)
	}
}

// silent is why a program has written no further line.
func (r *running) silent() error {
	err := r.wait()
	text := child.LastLine(r.errs.String())
	switch {
	case err != nil && text != "":
		return fmt.Errorf("%w: %s", err, text)
	case err != nil:
		return err
	}
	return fmt.Errorf("it ends without an answer, or with one of more than %d bytes", maxAnswerBytes)
}

// wait waits for the end of the program, once.
func (r *running) wait() error {
	if r.cmd == nil {
		return nil
	}
	_ = r.in.Close()
	kill := time.AfterFunc(time.Second, r.end) // one that goes on without input
	for range r.lines {                        // what it still writes is of no account
	}
	err := r.cmd.Wait()
	kill.Stop()
	r.end() // what it has started
	r.ended()
	r.cmd = nil
	return err
}

// close ends the program and returns the first error of a run.
func (r *running) close() error {
	_ = r.wait()
	return r.failed
}

// Next implements Scheduler. After an error every engine stays idle; close returns it.
func (r *running) Next(s *State, device int) Choice {
	q := ExternalState{NowUS: float64(s.NowFs) / 1e9, Device: s.Devices[device], Waiting: externalJobs(s.Waiting)}
	for _, fs := range s.FreeFs {
		q.FreeUS = append(q.FreeUS, float64(fs)/1e9)
	}
	a, err := r.ask(map[string]any{"decide": q})
	switch {
	case err != nil:
		return idle
	case a.Job == nil:
		r.failed = r.wrap(errors.New(`its answer has no "job"`))
		return idle
	case *a.Job < -1 || *a.Job >= len(s.Waiting) || a.Parts < 0:
		r.failed = r.wrap(fmt.Errorf("job %d, %d parts, of %d waiting", *a.Job, a.Parts, len(s.Waiting)))
		return idle
	case *a.Job >= 0:
		j := &s.Waiting[*a.Job]
		if c := s.Cost(j.Network, j.Part, j.end(s.Problem, a.Parts), device); !c.Runs() {
			r.failed = r.wrap(fmt.Errorf("%s does not run job %d of %d waiting", s.Devices[device], *a.Job, len(s.Waiting)))
			return idle
		}
	}
	return Choice{*a.Job, a.Parts}
}
