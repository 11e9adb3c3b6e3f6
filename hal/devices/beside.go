package devices

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// neighbours are the executions of clients beside each other where Machine.Most bounds how many are simulated. What a
// program costs depends on what the other engines do meanwhile, so an execution repeats one that began beside the same
// programs (D-2900). The costs of A beside B are those of a simulation of both: where A begins beside an execution of B
// that is repeated, and no costs of A beside B are known, A takes those beside other programs, and B is simulated again
// the next time, for A to meet.
type neighbours struct {
	at      [soc.NumEngines]occupant
	ran     map[meeting][]*remembered
	classes map[any][]meeting // of a program, in the order in which they first ran
	again   map[any]bool      // programs that are simulated the next time
	asked   map[meeting]int   // how often again has been set for them
}

// occupant is a program at work on an engine.
type occupant struct {
	program  any
	repeated bool // its costs are those of another execution: it makes no single access to the memory
}

// meeting is a program and those that are at work on the other engines when it begins.
type meeting struct {
	program any
	others  [soc.NumEngines]any
}

// enter notes that a program is at work on an engine until the function that it returns is called.
func (n *neighbours) enter(e soc.Engine, program any) (leave func()) {
	before := n.at[e]
	n.at[e] = occupant{program: program}
	return func() { n.at[e] = before } // a program that was preempted is back
}

// meets is the meeting of a program that begins on an engine.
func (n *neighbours) meets(e soc.Engine, program any) meeting {
	x := meeting{program: program}
	for i := range n.at {
		if soc.Engine(i) != e {
			x.others[i] = n.at[i].program
		}
	}
	return x
}

// known is the last of the executions with the same inputs in a meeting, and their number.
func (n *neighbours) known(x meeting, b *hal.Buffers) (last *remembered, count int) {
	for _, r := range n.ran[x] {
		if r.same(b) {
			last, count = r, count+1
		}
	}
	return last, count
}

// nearest is an execution of the program beside as many of the same others as can be, nil without one.
func (n *neighbours) nearest(x meeting, b *hal.Buffers) (best *remembered) {
	alike := -1
	for _, y := range n.classes[x.program] {
		same := 0
		for e := range x.others {
			if x.others[e] == y.others[e] {
				same++
			}
		}
		if r, _ := n.known(y, b); r != nil && same > alike {
			best, alike = r, same
		}
	}
	return best
}

// find is the execution that one stands for which begins now, nil where that is to be simulated.
func (n *neighbours) find(e soc.Engine, c *base.Call, most int) *remembered {
	x := n.meets(e, c.Program)
	if n.again[c.Program] {
		delete(n.again, c.Program)
		return nil
	}
	last, count := n.known(x, c.Buffers)
	if count >= most {
		return last
	}
	beside := slices.ContainsFunc(n.at[:], func(o occupant) bool { return o.repeated })
	if !beside {
		return nil
	}
	if n.asked[x] < most {
		n.asked[x]++
		for _, o := range n.at {
			if o.repeated {
				n.again[o.program] = true
			}
		}
	}
	return n.nearest(x, c.Buffers)
}

// note keeps an execution that was simulated.
func (n *neighbours) note(x meeting, r *remembered) {
	if len(n.ran[x]) == 0 {
		n.classes[x.program] = append(n.classes[x.program], x)
	}
	list := append(n.ran[x], r)
	n.ran[x] = list[max(0, len(list)-maxRemembered):]
}

// Forget forgets the executions of clients beside each other that later ones would repeat.
func (m *Machine) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.beside = nil
}

// neighbours returns those of the machine, empty where they have become too many.
func (m *Machine) neighbours() *neighbours {
	if m.beside == nil || len(m.beside.ran) > maxPrograms {
		var at [soc.NumEngines]occupant
		if m.beside != nil {
			at = m.beside.at
		}
		m.beside = &neighbours{at: at, ran: map[meeting][]*remembered{}, classes: map[any][]meeting{}, again: map[any]bool{}, asked: map[meeting]int{}}
	}
	return m.beside
}

// pass lets the time of an execution pass that repeats an earlier one at the present clocks: its bytes move evenly, and a
// request of higher priority may have the engine between any two of replaySteps.
func (h *engineHost) pass(x *remembered, c *base.Call, k platform.Conditions) *hal.Result {
	res := x.replay(c.Buffers)
	if !x.began(k.Points) {
		retime(&res.Stats, h.clocks(x), h.present(k.Points), k.Points)
	}
	took, bytes := sim.Time(res.Stats.LatencyFs), outcomeOf(&res.Stats).DRAMBytes
	for i := range replaySteps {
		from, to := took*sim.Time(i)/replaySteps, took*sim.Time(i+1)/replaySteps
		h.moved(from, to, bytes*int64(i+1)/replaySteps-bytes*int64(i)/replaySteps)
		if to < took && k.Preemption != nil && k.Preemption.Pending(to) {
			k.Preemption.Yield(to)
		}
	}
	return res
}

// replaySteps is the number of places at which an execution that is repeated can be preempted: about the operations of a
// network (assumed, D-2900).
const replaySteps = 32
