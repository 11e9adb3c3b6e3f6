package nnrt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
)

// ErrCandidate is matched by errors of Compile about kernels that a device does not consider.
var ErrCandidate = errors.New("no such candidate")

// candidatesOf picks the candidates of a part, by operation of the part.
func candidatesOf(all map[int]string, operations []int) map[int]string {
	var list map[int]string
	for k, i := range operations {
		if name, ok := all[i]; ok {
			if list == nil {
				list = map[int]string{}
			}
			list[k] = name
		}
	}
	return list
}

// checkCandidates checks that a device has chosen the requested candidates of a part.
func checkCandidates(d hal.Device, p hal.PreparedModel, requested map[int]string, operations []int) error {
	if len(requested) == 0 {
		return nil
	}
	x, ok := hal.As[hal.Chooser](p)
	if !ok {
		return fmt.Errorf("%w: %s does not list its candidates", ErrCandidate, d.Name())
	}
	choices, err := x.Choices()
	if err != nil {
		return fmt.Errorf("%s: %w", d.Name(), err)
	}
	for _, k := range slices.Sorted(maps.Keys(requested)) {
		found := false
		var names []string
		for _, c := range choices {
			if c.Operation != k {
				continue
			}
			for _, y := range c.Candidates {
				found = found || y.Chosen && y.Name == requested[k]
				names = append(names, y.Name)
			}
		}
		if found {
			continue
		}
		const most = 12
		text := "chooses among nothing there"
		if len(names) > 0 {
			text = "has " + strings.Join(names[:min(most, len(names))], ", ")
			if len(names) > most {
				text += fmt.Sprintf(" and %d more", len(names)-most)
			}
		}
		return fmt.Errorf("operation %d: %w as %q on %s, which %s", operations[k], ErrCandidate, requested[k], d.Name(), text)
	}
	return nil
}

// Cascades returns the cascades of the main subgraph, by its operations.
func (c *Compilation) Cascades() (list []hal.Cascade) {
	for i := range c.steps {
		s := &c.steps[i]
		x, ok := hal.As[hal.Cascader](s.prepared)
		if s.source != 0 || !ok {
			continue
		}
		for _, y := range x.Cascades() {
			own := hal.Cascade{Parts: y.Parts}
			for _, op := range y.Operations {
				if op >= 0 && op < len(s.operations) {
					own.Operations = append(own.Operations, s.operations[op])
				}
			}
			list = append(list, own)
		}
	}
	return list
}

// Choices are the alternatives of the steps of the main subgraph, by its operations. Devices
// that report none have none.
func (c *Compilation) Choices() (list []hal.Choice, err error) {
	for i := range c.steps {
		s := &c.steps[i]
		x, ok := hal.As[hal.Chooser](s.prepared)
		if s.source != 0 || !ok {
			continue
		}
		part, err := x.Choices()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.device.Name(), err)
		}
		for _, y := range part {
			if y.Operation >= 0 && y.Operation < len(s.operations) {
				y.Operation = s.operations[y.Operation]
				list = append(list, y)
			}
		}
	}
	return list, nil
}
