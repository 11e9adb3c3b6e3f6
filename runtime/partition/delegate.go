package partition

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// Delegate divides a network as the delegates of TensorFlow Lite do: one engine after the other takes every
// operation left that it supports, whatever it costs, and the CPU has the rest. A part is a run of operations that
// one engine took. Without Takes the engine that promises the lowest mean time for what it supports is asked first.
type Delegate struct {
	Takes []Take // in the order in which engines are asked; nil: all that they support
}

// Take is what an engine takes of a network: operations by type or by index.
type Take struct {
	Engine string
	Types  []string // such as CONV_2D
	Ranges [][2]int // first and last index
}

// takes reports whether an engine takes operation i.
func (t *Take) takes(p *Problem, i int) bool {
	return slices.Contains(t.Types, p.Graph.Operations[i].Type) ||
		slices.ContainsFunc(t.Ranges, func(r [2]int) bool { return i >= r[0] && i <= r[1] })
}

// Name implements Strategy.
func (Delegate) Name() string { return "delegate" }

// Plan implements Strategy.
func (s Delegate) Plan(p *Problem) (Plan, error) {
	plan := Plan{Device: make([]int, len(p.Graph.Operations)), Sequential: true}
	if s.Takes == nil {
		for _, d := range p.byPromise() {
			for i := range plan.Device {
				if plan.Device[i] == 0 && p.supports(d, i) {
					plan.Device[i] = d
				}
			}
		}
		return plan, nil
	}
	for k := range s.Takes {
		t := &s.Takes[k]
		d := slices.IndexFunc(p.Devices[:p.drivers()], func(x Device) bool { return x.Name == t.Engine })
		if d < 0 {
			return Plan{}, fmt.Errorf("partition: delegate: no device %q; there are %s", t.Engine, strings.Join(p.deviceNames(), ", "))
		}
		for _, r := range t.Ranges {
			if r[1] >= len(plan.Device) {
				return Plan{}, fmt.Errorf("partition: delegate: %s takes operation %d; the network has %d", t.Engine, r[1], len(plan.Device))
			}
		}
		for i := range plan.Device {
			if plan.Device[i] != 0 || !t.takes(p, i) {
				continue
			}
			if !p.supports(d, i) {
				return Plan{}, fmt.Errorf("partition: delegate: %s takes operation %d (%s), which it does not support: %s", t.Engine, i, p.Graph.Operations[i].Type,
					p.Devices[d].Support[i].Reason)
			}
			plan.Device[i] = d
		}
	}
	return plan, nil
}

// deviceNames are the names of the drivers.
func (p *Problem) deviceNames() (l []string) {
	for _, d := range p.Devices[:p.drivers()] {
		l = append(l, d.Name)
	}
	return l
}

// byPromise are the devices but the CPU, the one that promises the lowest mean time of the operations that it supports
// first; a problem made by hand has no promises, and the order of its devices.
func (p *Problem) byPromise() (l []int) {
	mean := map[int]float64{}
	for d := 1; d < p.drivers(); d++ {
		n, sum := 0, 0.
		for i := range p.Graph.Operations {
			if p.Model != nil && p.supports(d, i) {
				n, sum = n+1, sum+float64(Performance(&p.Devices[d].Capabilities, p.Model, &p.Model.Main, i, p.Preference))
			}
		}
		if n > 0 {
			mean[d] = sum / float64(n)
		}
		l = append(l, d)
	}
	slices.SortStableFunc(l, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	return l
}

// maxTakes bounds the lines of a file of takes.
const maxTakes = 10000

// ReadTakes reads what engines take, a line each, in the order in which they are asked: the engine, then types of operations and
// indexes or ranges of them, such as "dsp CONV_2D ADD 0-13 20". Text from # on is a comment.
func ReadTakes(r io.Reader) ([]Take, error) {
	var l []Take
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		f := strings.Fields(text)
		if len(f) == 0 {
			continue
		}
		if len(f) == 1 {
			return nil, fmt.Errorf("line %d: %s takes nothing; want types of operations or indexes behind the engine", n, f[0])
		}
		if len(l) == maxTakes {
			return nil, fmt.Errorf("line %d: more than %d lines", n, maxTakes)
		}
		t := Take{Engine: f[0]}
		for _, word := range f[1:] {
			if err := t.read(word); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		l = append(l, t)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("no line names an engine and what it takes, such as \"dsp CONV_2D 0-13\"")
	}
	return l, nil
}

// read adds a type, an index or a range of indexes.
func (t *Take) read(word string) error {
	if word[0] < '0' || word[0] > '9' {
		if _, ok := nn.ParseOperationType(word); !ok {
			return fmt.Errorf("no type of operation is called %q; want one as CONV_2D, an index or a range as 0-13", word)
		}
		t.Types = append(t.Types, word)
		return nil
	}
	first, last, isRange := strings.Cut(word, "-")
	if !isRange {
		last = first
	}
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || a > b {
		return fmt.Errorf("%q is no range of operations; want one as 0-13", word)
	}
	t.Ranges = append(t.Ranges, [2]int{a, b})
	return nil
}
