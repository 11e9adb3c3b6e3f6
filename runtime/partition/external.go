package partition

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/internal/child"
)

// External is a strategy in a separate program. It reads one JSON object from
// standard input, ExternalProblem, and writes one on standard output,
// ExternalPlan. Its standard error is part of the error message
// when it fails.
type External struct {
	Command []string      // program and arguments
	Limit   time.Duration // 0 is a minute
	// Started receives a function that ends a program and its children, in case this
	// process ends first; it returns a function to call when the program has ended. May be nil.
	Started func(end func()) (ended func())
}

// ExternalVersion is the version of the two objects.
const ExternalVersion = 1

// ExternalProblem is the problem as a program reads it. Times are microseconds,
// energies microjoules; lists by device are in the order of Devices, and null
// is an operation that the device does not support.
type ExternalProblem struct {
	Version    int                 `json:"version"`
	Objective  string              `json:"objective"`
	Devices    []externalDevice    `json:"devices"`
	Operations []externalOperation `json:"operations"`
	Values     []externalValue     `json:"values"`
	Segments   []externalSegment   `json:"segments"`
}

// ExternalPlan is the output of a program: the name of a device per operation, and optionally the number of its part.
// Operations of different parts never share a step, so that a branch on another device can begin beside the rest.
type ExternalPlan struct {
	Devices []string `json:"devices"`
	Parts   []int    `json:"parts,omitempty"`
}

type externalDevice struct {
	Name     string       `json:"name"`
	Segment  externalCost `json:"segment"`  // fixed cost of a segment
	Kilobyte externalCost `json:"kilobyte"` // of 1000 bytes that enter or leave one
}

type externalCost struct {
	TimeUS   float64 `json:"time_us"`
	EngineUS float64 `json:"engine_us"`
	EnergyUJ float64 `json:"energy_uj"`
}

type externalOperation struct {
	Type    string          `json:"type"`
	MACs    int64           `json:"macs"`
	Inputs  []int           `json:"inputs"`
	Outputs []int           `json:"outputs"`
	Costs   []*externalCost `json:"costs"`
}

type externalValue struct {
	Bytes     int64 `json:"bytes"`
	Producer  *int  `json:"producer"` // null for an input of the model
	Consumers []int `json:"consumers"`
	Output    bool  `json:"output"`
}

type externalSegment struct {
	Device     string `json:"device"`
	Operations []int  `json:"operations"`
	externalCost
}

// Limits of a program.
const (
	externalLimit  = time.Minute
	maxPlanBytes   = 16 << 20
	maxErrorBytes  = 4 << 10
	externalLinger = time.Second // for pipes that children of a stopped program hold open
)

// Name implements Strategy.
func (x *External) Name() string { return "exec:" + strings.Join(x.Command, " ") }

// Plan implements Strategy. A program that fails, exceeds its time or does not write
// a valid plan is an error with the cause.
func (x *External) Plan(p *Problem) (Plan, error) {
	fail := func(format string, args ...any) (Plan, error) {
		return Plan{}, fmt.Errorf("partition: %s: %w", x.Name(), fmt.Errorf(format, args...))
	}
	problem, err := json.Marshal(p.external())
	if err != nil {
		return fail("%w", err)
	}
	limit := x.Limit
	limit = cmp.Or(limit, externalLimit)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, errs := child.Bounded{Limit: maxPlanBytes}, child.Bounded{Limit: maxErrorBytes}
	c := exec.CommandContext(ctx, x.Command[0], x.Command[1:]...)
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = bytes.NewReader(problem), &out, &errs, externalLinger
	if err := x.run(c); err != nil {
		if ctx.Err() != nil {
			return fail("no answer within %v", limit)
		}
		if errors.Is(err, exec.ErrWaitDelay) {
			return fail("what it has started holds its output open %v after it has ended", externalLinger)
		}
		if text := child.LastLine(errs.String()); text != "" {
			return fail("%w: %s", err, text)
		}
		return fail("%w", err)
	}
	if out.Lost {
		return fail("an answer of more than %d bytes", maxPlanBytes)
	}
	answer, err := decodePlan(&out)
	if err != nil {
		return fail("its answer: %w", err)
	}
	plan, err := p.named(answer)
	if err != nil {
		return fail("%w", err)
	}
	return plan, nil
}

// run runs a program. After a timeout of the program, or of processes that it has started, all
// of them are ended.
func (x *External) run(c *exec.Cmd) error {
	end := child.Group(c)
	c.Cancel = func() error { end(); return nil }
	if err := c.Start(); err != nil {
		return err
	}
	if x.Started != nil {
		defer x.Started(end)()
	}
	err := c.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		end()
	}
	return err
}

// named converts names of devices, and parts, to a plan.
func (p *Problem) named(x ExternalPlan) (Plan, error) {
	device, err := x.indices(len(p.Graph.Operations), p.Devices)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Device: device, Part: x.Parts}
	return plan, p.checkPlan(plan)
}

// indices are the places of the devices of so many operations in a list. Interpreter is behind a list without it.
func (x *ExternalPlan) indices(operations int, devices []Device) ([]int, error) {
	if len(x.Devices) != operations {
		return nil, fmt.Errorf("it answers for %d operations, there are %d", len(x.Devices), operations)
	}
	index := map[string]int{Interpreter: len(devices)}
	var known []string
	for d := range devices {
		index[devices[d].Name] = d
		known = append(known, devices[d].Name)
	}
	list := make([]int, operations)
	for i, n := range x.Devices {
		d, ok := index[n]
		if !ok {
			return nil, fmt.Errorf("operation %d: no device %q; there are %s", i, n, strings.Join(known, ", "))
		}
		list[i] = d
	}
	return list, nil
}

// external is the problem as JSON has it.
func (p *Problem) external() *ExternalProblem {
	x := &ExternalProblem{Version: ExternalVersion, Objective: p.ObjectiveName(), Segments: []externalSegment{}}
	us := func(c Cost) externalCost {
		return externalCost{round(c.TimeFs / 1e9), round(c.EngineFs / 1e9), round(c.EnergyPJ / 1e6)}
	}
	for d := range p.Devices {
		x.Devices = append(x.Devices, externalDevice{p.Devices[d].Name, us(p.Costs.Fixed[d]), us(p.Costs.PerByte[d].Times(1000))})
	}
	for i := range p.Graph.Operations {
		o := &p.Graph.Operations[i]
		e := externalOperation{Type: o.Type, MACs: o.MACs, Inputs: list(o.Inputs), Outputs: list(o.Outputs)}
		for d := range p.Devices {
			var c *externalCost
			if p.supports(d, i) && !p.Costs.Operation[d][i].never() {
				v := us(p.Costs.Operation[d][i])
				c = &v
			}
			e.Costs = append(e.Costs, c)
		}
		x.Operations = append(x.Operations, e)
	}
	for v := range p.Graph.Values {
		o := &p.Graph.Values[v]
		e := externalValue{Bytes: o.Bytes, Consumers: list(o.Consumers), Output: o.Output}
		if o.Producer >= 0 {
			e.Producer = &o.Producer
		}
		x.Values = append(x.Values, e)
	}
	for _, s := range p.Costs.Segments() {
		if s.Cost.never() {
			continue
		}
		x.Segments = append(x.Segments, externalSegment{p.Devices[s.Device].Name, s.Operations, us(s.Cost)})
	}
	return x
}

// round keeps what JSON has a number for.
func round(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.MaxFloat32
	}
	return x
}

// list is l, never null in JSON.
func list(l []int) []int {
	if l == nil {
		return []int{}
	}
	return l
}
