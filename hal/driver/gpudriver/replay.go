package gpudriver

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"weak"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/sim"
)

// replays are executions of a device's programs that may be repeated on the same inputs. A repetition is only timed: its arena
// has the same initial contents, so its dispatches execute and write the same. A device keeps one list of them, which one
// execution uses at a time; others that run meanwhile have none.
type replays struct {
	most   int        // bytes of all of them, 0: maxReplays
	mu     sync.Mutex // held by the execution that uses the list
	idle   engine.Idle[[]*replay]
	inputs []byte // of the execution that uses it
}

// replay is the last execution of a program, which it does not keep in memory.
type replay struct {
	program weak.Pointer[plan.Program]
	inputs  []byte
	arena   []byte // that it has left
	gpu.Recorded
	never   bool         // it cannot be recorded as a whole, or is too large
	sampler *gpu.Sampler // nil: none was sampled
}

// bytes is the memory of a replay.
func (x *replay) bytes() int { return x.Bytes() + len(x.inputs) + len(x.arena) }

// maxReplays bounds the bytes of replays that a device keeps, in all; a new one may have three quarters of them.
const maxReplays = 96 << 20

// maxPrograms bounds the programs whose executions are kept.
const maxPrograms = 64

// run runs the program of an executable on a machine whose arena has its inputs, sampled where there is an account for that.
func (s *replays) run(p *executable, m *machine, o *gpu.Options, sampled *sim.Sampled) (*sim.Report, error) {
	x, again := &replay{}, false
	if !o.Functional && o.Until == 0 && s.mu.TryLock() {
		defer s.mu.Unlock()
		list, _, _ := s.idle.Acquire(&base.Place{})
		s.inputs = p.inputs(m, s.inputs[:0])
		x, list = replayOf(list, p.program, len(m.arena)+len(s.inputs), cmp.Or(s.most, maxReplays))
		defer func() { s.idle.Put(list[:min(len(list), maxPrograms)], nil) }()
		if !x.never || sampled != nil {
			if again = x.Complete() && bytes.Equal(x.inputs, s.inputs); !again {
				x.Renew()
				x.inputs = append(x.inputs[:0], s.inputs...)
			}
			o.Recorded = &x.Recorded
		}
	}
	if sampled != nil {
		if x.sampler == nil {
			x.sampler = &gpu.Sampler{}
		}
		x.sampler.Sampled, o.Sampler = sampled, x.sampler
	}
	report, err := p.dev.core.Run(&m.space, p.program.Dispatches, *o)
	switch {
	case err != nil:
		x.Clear()
	case again:
		copy(m.arena, x.arena)
	case x.Complete():
		x.arena = append(x.arena[:0], m.arena...)
	default:
		x.never, x.inputs, x.arena = true, nil, nil
	}
	return report, err
}

// replayOf finds the execution of a program, whose inputs and arena have fixed bytes, and moves it to the front of the list, in
// which it may have at least three quarters of most bytes. Executions of collected programs are dropped.
func replayOf(list []*replay, program *plan.Program, fixed, most int) (*replay, []*replay) {
	key := weak.Make(program)
	x := &replay{program: key}
	list = slices.DeleteFunc(list, func(y *replay) bool {
		if y.program == key {
			x = y
		}
		return y.program == key || y.program.Value() == nil
	})
	kept, n := 0, 0
	for ; n < len(list) && kept+list[n].bytes() <= most/4; n++ {
		kept += list[n].bytes()
	}
	x.Limit = most - kept - fixed
	return x, append([]*replay{x}, list[:n]...)
}

// inputs appends the bytes of all inputs in the arena of a machine to data.
func (p *executable) inputs(m *machine, data []byte) []byte {
	for _, s := range p.IO.Inputs {
		if s.Memory == inArena {
			data = append(data, m.arena[s.From:s.To]...)
		}
	}
	return data
}
