package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// profiler charges costs to the current command, or to the command of their kernel.
type profiler struct {
	to   *sim.Profile
	rows map[profiledAt]int // places in to.Samples
	word int                // of the command under way; noWord: none
	name string             // of the work it starts
	text string
	pj   float64 // of attached memories so far
}

const noWord = -1

// profiledAt is where a cost arose.
type profiledAt struct{ region, word int }

func newProfiler(to *sim.Profile, mems []memory) *profiler {
	if to == nil {
		return nil
	}
	f := &profiler{to: to, rows: map[profiledAt]int{}, word: noWord}
	f.pj = attached(mems)
	return f
}

// attached is the dynamic energy of attached memories.
func attached(mems []memory) (sum float64) {
	for i := range mems {
		if l := mems[i].level; l != nil {
			pj, _ := mem.EnergyOf(l)
			sum += pj
		}
	}
	return sum
}

// command begins a command.
func (f *profiler) command(at int, c ethosu.Command, region int) {
	if f == nil {
		return
	}
	f.word, f.name, f.text = at, "registers", c.Code.String()
	if ethosu.Lookup(c.Code).Class == ethosu.ClassOp {
		f.name = "control"
	} else {
		f.text = fmt.Sprintf("%s %d", c.Code, c.Param)
	}
	f.row(region, at).Count++
}

// starts records the work that the command starts.
func (f *profiler) starts(region int, name string) {
	if f != nil {
		f.name = name
		f.row(region, f.word).Program = name
	}
}

// row is the sample of a word in a region. Before the first command it is the launch.
func (f *profiler) row(region, word int) *sim.Sample {
	at := profiledAt{region, word}
	i, ok := f.rows[at]
	if !ok {
		i = len(f.to.Samples)
		f.rows[at] = i
		x := sim.Sample{Region: region, Program: f.name, At: 4 * int64(word), Text: f.text}
		if word == noWord {
			x.Program, x.At, x.Text = "launch", sim.NoInstruction, "launch"
		}
		f.to.Samples = append(f.to.Samples, x)
	}
	return &f.to.Samples[i]
}

// memory charges the energy of attached memories since the last call to the command that ends.
func (f *profiler) memory(region int, mems []memory) {
	if f == nil {
		return
	}
	now := attached(mems)
	f.row(region, f.word).EnergyPJ += now - f.pj
	f.pj = now
}

// finish adds the static energy, in picojoules per cycle.
func (f *profiler) finish(static float64) {
	if f == nil {
		return
	}
	for _, i := range f.rows {
		x := &f.to.Samples[i]
		x.EnergyPJ += static * float64(x.Stalls.Total())
	}
}
