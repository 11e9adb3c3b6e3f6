package nnrt

import (
	"cmp"
	"errors"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// section is a range of a source's nodes between two instants at which everything before
// has ended. The nodes of a section may run beside each other.
type section struct {
	from, to int
	after    [][]int // of each node, those of the section that it waits for
}

// sections cuts steps wherever all steps from some step on wait for all before it: for
// values, or for a device, which serves its steps in order.
func sections(order []partition.Step, links []partition.Links) []section {
	n := len(order)
	after := make([][]int, n)
	before := make([][]bool, n) // all steps that have ended when a step begins
	last := map[int]int{}       // step of each device
	for k := range order {
		after[k] = slices.Clone(links[k].Before)
		if x, ok := last[order[k].Device]; ok && !slices.Contains(after[k], x) {
			after[k] = append(after[k], x)
		}
		last[order[k].Device] = k
		before[k] = make([]bool, n)
		for _, x := range after[k] {
			before[k][x] = true
			for i, b := range before[x] {
				before[k][i] = before[k][i] || b
			}
		}
	}
	// waits[k] is the number of leading steps that every step from k on waits for.
	waits := make([]int, n+1)
	waits[n] = n
	for k := n - 1; k >= 0; k-- {
		all := slices.Index(before[k], false)
		waits[k] = min(waits[k+1], all)
	}
	var list []section
	from := 0
	for k := 1; k <= n; k++ {
		if waits[k] < k {
			continue
		}
		s := section{from: from, to: k}
		for i := from; i < k; i++ {
			s.after = append(s.after, slices.DeleteFunc(after[i], func(x int) bool { return x < from }))
		}
		list = append(list, s)
		from = k
	}
	return list
}

// overlaps reports whether steps run beside each other.
func (c *Compilation) overlaps() bool {
	return slices.ContainsFunc(c.sources, func(of source) bool {
		return slices.ContainsFunc(of.sections, func(s section) bool { return s.to-s.from > 1 })
	})
}

// errSkipped is the end of a step that waited for one that failed.
var errSkipped = errors.New("runtime: a step before failed")

// overlapped executes all steps on the machine's clock.
func (e *execution) overlapped() (whole string, err error) {
	me := e.options.Client
	e.originFs = me.NowFs()
	e.concurrent = true
	if whole, err := e.source(0, me); err != nil || whole != "" {
		return whole, err
	}
	e.endFs = me.NowFs()
	// In the order of the main subgraph's nodes, what control flow leads to in that of time.
	node := func(x ranStep) int {
		at, found := slices.BinarySearch(e.sources[0].nodes, x.step)
		if !found {
			at--
		}
		return at
	}
	slices.SortStableFunc(e.ran, func(a, b ranStep) int {
		return cmp.Or(cmp.Compare(node(a), node(b)), cmp.Compare(a.startFs, b.startFs))
	})
	return "", nil
}

// section executes nodes of a source, each as a client of its own.
func (e *execution) section(of *source, s *section, me hal.Client) (whole string, err error) {
	n := s.to - s.from
	clients := make([]hal.Client, n)
	errs := make([]error, n)
	wholes := make([]string, n)
	stop := false
	for i := range n {
		clients[i], errs[i] = me.Go(func(c hal.Client) error {
			for _, x := range s.after[i] {
				if err := c.Join(clients[x-s.from]); err != nil {
					return errSkipped
				}
			}
			if stop {
				return errSkipped
			}
			var err error
			wholes[i], err = e.node(of.nodes[s.from+i], c)
			stop = stop || err != nil || wholes[i] != ""
			return err
		})
		if errs[i] != nil {
			stop = true
			clients = clients[:i]
			break
		}
	}
	for i, c := range clients {
		errs[i] = me.Join(c)
	}
	for i := range n {
		if errs[i] != nil && !errors.Is(errs[i], errSkipped) {
			return "", errs[i]
		}
	}
	return slices.Max(wholes), nil
}

// timed executes a step as a client. For a device that is not part of the machine the
// client waits for the time of the execution.
func (e *execution) timed(at int, c hal.Client) (whole string, err error) {
	start := c.NowFs()
	whole, ran, err := e.part(at, c)
	if err != nil || whole != "" {
		return whole, err
	}
	c.WaitUntil(start + ran.stats.LatencyFs)
	ran.startFs = start
	e.ran = append(e.ran, ran)
	return "", nil
}
