package nnrt

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// jumpKind is what a step of control flow does.
type jumpKind int

const (
	jumpIf    jumpKind = iota // to one of two branches
	jumpWhile                 // to the condition, to the body, or past them
	jumpGoto                  // to one step
)

// jump is a step of control flow, which the runtime interprets. Steps lie in one
// list, in AOSP's order:
//
//	i    IF     then i+1, else j+1            i    WHILE  condition i+1, body j+1, exit k+1
//	i+1  ...    of the then branch            i+1  ...    of the condition
//	j    GOTO   k                             j    GOTO   i
//	j+1  ...    of the else branch            j+1  ...    of the body
//	k    ...    what follows                  k    GOTO   i
//	                                          k+1  ...    what follows
//
// A target past the last step ends the execution. jump stands where the prepared
// model of other steps does, so that listings show it.
type jump struct {
	hal.UnimplementedPreparedModel
	kind    jumpKind
	control        // of an IF or WHILE, of the step's source
	sources [2]int // then and else, or condition and body
	targets [3]int // steps: of IF two, of WHILE three, of GOTO one
}

// WriteListing implements hal.PreparedModel.
func (j *jump) WriteListing(w io.Writer) (err error) {
	switch j.kind {
	case jumpIf:
		_, err = fmt.Fprintf(w, "; IF: then step %d, else step %d\n", j.targets[0], j.targets[1])
	case jumpWhile:
		_, err = fmt.Fprintf(w, "; WHILE: condition step %d, body step %d, exit step %d\n", j.targets[0], j.targets[1], j.targets[2])
	case jumpGoto:
		_, err = fmt.Fprintf(w, "; GOTO step %d\n", j.targets[0])
	}
	return err
}

// WriteProgram implements hal.PreparedModel.
func (j *jump) WriteProgram(w io.Writer) error {
	return binary.Write(w, binary.LittleEndian, [4]uint32{uint32(j.kind), uint32(j.targets[0]), uint32(j.targets[1]), uint32(j.targets[2])})
}

// control is an IF or WHILE: the condition of an IF, and what its subgraphs get and give.
type control struct {
	condition       uint32
	inputs, outputs []uint32 // operands
}

// controlOf reads an IF or WHILE of a valid model.
func controlOf(g *nn.Subgraph, op *nn.Operation) control {
	v := opspec.ModelView(g)
	if op.Type == nn.OpIf {
		o, _ := opspec.Read[opspec.If](v, op)
		return control{o.Condition, o.Inputs, o.Outputs}
	}
	o, _ := opspec.Read[opspec.While](v, op)
	return control{inputs: o.Inputs, outputs: o.Outputs}
}

// addControl appends an IF or WHILE with the steps of its subgraphs.
func (l *layout) addControl(from int, a *assignment, i int) error {
	m := l.sources[from].model
	op := &m.Main.Operations[i]
	l.control = true
	j := &jump{kind: jumpIf, control: controlOf(&m.Main, op)}
	names := [2]string{"IF then", "IF else"}
	if op.Type == nn.OpWhile {
		j.kind, names = jumpWhile, [2]string{"WHILE condition", "WHILE body"}
	}
	caller := l.sources[from].caller
	if caller < 0 {
		caller = i
	}
	at := len(l.steps)
	l.steps = append(l.steps, step{source: from, device: l.cpu, prepared: j, operations: []int{i}})
	l.own(from, []int{i}, l.cpu)
	var past *jump // the GOTO behind the then branch
	for n, k := range partition.Calls(&m.Main, op) {
		j.sources[n], j.targets[n] = len(l.sources), len(l.steps)
		l.sources = append(l.sources, source{model: subgraphOf(m, k), caller: caller, name: names[n]})
		if err := l.add(j.sources[n], a.subgraphs[k]); err != nil {
			return err
		}
		if j.kind == jumpWhile {
			l.addGoto(from, i, at)
		} else if n == 0 {
			past = l.addGoto(from, i, 0)
		}
	}
	j.targets[2] = len(l.steps)
	if past != nil {
		past.targets[0] = len(l.steps)
	}
	return nil
}

// addGoto appends a jump that belongs to operation i of a source.
func (l *layout) addGoto(from, i, target int) *jump {
	g := &jump{kind: jumpGoto, targets: [3]int{target}}
	l.steps = append(l.steps, step{source: from, device: l.cpu, prepared: g, operations: []int{i}})
	return g
}

// loop is a WHILE under way.
type loop struct {
	state            []*value
	stage            loopStage
	startFs, limitFs int64
}

// loopStage is what of a loop has run last.
type loopStage int

const (
	loopBegins loopStage = iota
	loopCondition
	loopBody
)

// interpret executes an IF or WHILE with the subgraphs that it calls.
func (e *execution) interpret(at int, j *jump, client hal.Client) (whole string, err error) {
	limit := hal.ExecuteOptions{LoopTimeout: e.options.LoopTimeout}
	l := loop{startFs: e.now(client), limitFs: int64(limit.LoopLimit()) * 1e6}
	for {
		var next int // subgraph, 2 behind the last
		if j.kind == jumpIf {
			next, err = e.branch(at, j)
		} else {
			next, err = e.round(at, j, &l, client)
		}
		if err != nil || next == len(j.sources) {
			return "", err
		}
		e.count(at, next)
		if whole, err := e.source(j.sources[next], client); err != nil || whole != "" || j.kind == jumpIf {
			return whole, err
		}
	}
}

// now is the time since an instant before the execution.
func (e *execution) now(client hal.Client) int64 {
	if e.concurrent {
		return client.NowFs()
	}
	return e.nowFs
}

// branch enters the branch of an IF, which reads and writes the operands of its caller.
func (e *execution) branch(at int, j *jump) (next int, err error) {
	f := e.frames[e.steps[at].source]
	yes, err := truth(f[j.condition])
	if err != nil {
		return 0, err
	}
	if !yes {
		next = 1
	}
	in, s := e.enter(j.sources[next]), &e.sources[j.sources[next]].model.Main
	for k, x := range j.inputs {
		in[s.Inputs[k]] = f[x]
	}
	for k, x := range j.outputs {
		in[s.Outputs[k]] = f[x]
	}
	return next, nil
}

// count notes which subgraph control flow of the model's main subgraph runs next.
func (e *execution) count(at, next int) {
	s := &e.steps[at]
	if s.source != 0 {
		return
	}
	if e.result.Rounds == nil {
		e.result.Rounds = map[int][2]int{}
	}
	r := e.result.Rounds[s.operations[0]]
	r[next]++
	e.result.Rounds[s.operations[0]] = r
}

// round continues a WHILE: its condition follows the beginning and each body, a
// body follows the condition while that is true. The time since the beginning is
// checked before each body. The outputs of a body are new values beside its
// inputs: the state of a loop has two buffers.
func (e *execution) round(at int, j *jump, l *loop, client hal.Client) (next int, err error) {
	f := e.frames[e.steps[at].source]
	condition, body := &e.sources[j.sources[0]].model.Main, &e.sources[j.sources[1]].model.Main
	switch l.stage {
	case loopBegins:
		for _, x := range j.inputs {
			l.state = append(l.state, f[x])
		}
	case loopBody:
		for k, x := range body.Outputs {
			l.state[k] = e.frames[j.sources[1]][x]
		}
	case loopCondition:
		yes, err := truth(e.frames[j.sources[0]][condition.Outputs[0]])
		if err != nil {
			return 0, err
		}
		if !yes {
			for k, x := range j.outputs {
				*f[x] = value{data: slices.Clone(l.state[k].data), dims: l.state[k].dims}
			}
			return len(j.sources), nil
		}
		if e.now(client)-l.startFs >= l.limitFs {
			return 0, hal.Errorf(hal.MissedDeadlineTransient, "runtime: a WHILE has not ended within %v of simulated time", time.Duration(l.limitFs/1e6))
		}
		l.stage = loopBody
		e.pass(j.sources[1], l.state)
		return 1, nil
	}
	l.stage = loopCondition
	e.pass(j.sources[0], l.state)
	return 0, nil
}

// truth reads a condition: one TENSOR_BOOL8 element.
func truth(v *value) (bool, error) {
	if len(v.data) != 1 {
		return false, hal.Errorf(hal.GeneralFailure, "runtime: a condition of %d elements, 1 needed", len(v.data))
	}
	return v.data[0] != 0, nil
}
