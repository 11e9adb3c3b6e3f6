package cost

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Table is costs that were measured elsewhere: rows about operations of a device, its segments and what enters and leaves them. Of the rows
// about an operation those that say the most of it count, and of several that say the same the mean, as of repeated measurements.
type Table struct {
	Name string // of the file
	rows []*tableRow
}

// Coverage is what a table says of a problem's costs on a device; the rest is as the simulator has it.
type Coverage struct {
	Device     string `json:"device"`
	Operations int    `json:"operation_count"`         // that the device supports, those of subgraphs as well
	Times      int    `json:"time_count"`              // of them those with a time of the file
	Energies   int    `json:"energy_count"`            // and with an energy of the file
	Segment    bool   `json:"segment"`                 // the fixed cost of a segment is that of the file
	Kilobyte   bool   `json:"kilobyte"`                // so is that of a byte that enters or leaves one
	Unused     int    `json:"unused_row_count"`        // rows of the file about this device that are about no operation of the network
	Unknown    string `json:"unused_row,omitempty"`    // the first of them
	Missing    string `json:"first_missing,omitempty"` // the first operation without a row
}

// Costs returns the costs of a problem by the table. What it does not say is as simulated returns it, which is called if anything is
// missing. A row about an operation that there is not, or that its device does not support, is an error.
func (t *Table) Costs(p *partition.Problem, simulated func() (partition.Costs, error)) (partition.Costs, []Coverage, error) {
	if err := t.check(p); err != nil {
		return partition.Costs{}, nil, fmt.Errorf("costs: %s: %w", t.Name, err)
	}
	for _, r := range t.rows {
		r.used, r.unsupported, r.elsewhere = false, false, false
	}
	var cover []Coverage
	for d := range p.Devices {
		cover = append(cover, Coverage{Device: p.Devices[d].Name})
	}
	c, err := t.apply(p, true, cover)
	if err != nil {
		return partition.Costs{}, nil, fmt.Errorf("costs: %s: %w", t.Name, err)
	}
	used := false
	for _, r := range t.rows {
		used = used || r.used
		d := slices.IndexFunc(cover, func(x Coverage) bool { return x.Device == r.device })
		if x := &cover[d]; !r.used {
			if x.Unused++; x.Unknown == "" {
				x.Unknown = r.at + ": " + r.why(p)
			}
		}
	}
	if !used {
		return partition.Costs{}, nil, fmt.Errorf("costs: %s: %w is about %s: %s: %s", t.Name, ErrNoRow, p.Model.Name, t.rows[0].at, t.rows[0].why(p))
	}
	if complete(cover) {
		return c, cover, nil
	}
	base, err := simulated()
	if err != nil {
		return partition.Costs{}, nil, err
	}
	return fill(p, c, base), cover, nil
}

// String says what a file of costs has of a device, and what is simulated in its place.
func (x *Coverage) String(file string) string {
	var have, lack []string
	say := func(has bool, what string) {
		if has {
			have = append(have, what)
		} else {
			lack = append(lack, what)
		}
	}
	count := func(n int, what string) {
		if n > 0 {
			have = append(have, fmt.Sprintf("%s of %d of %d operations", what, n, x.Operations))
		}
		if n < x.Operations {
			lack = append(lack, fmt.Sprintf("%s of %d", what, x.Operations-n))
		}
	}
	count(x.Times, "times")
	count(x.Energies, "energies")
	say(x.Segment, "the call of a segment")
	say(x.Kilobyte, "bytes that enter and leave")
	text := "costs of " + x.Device
	switch {
	case x.Operations == 0:
		text += ": it supports no operation"
	case have == nil:
		text += ": all simulated"
	default:
		text += " from " + file + ": " + strings.Join(have, ", ")
		if lack != nil {
			text += "; simulated: " + strings.Join(lack, ", ")
		}
	}
	if x.Missing != "" && x.Times > 0 {
		text += "; the first operation without a row: " + x.Missing
	}
	if x.Unused > 0 {
		text += fmt.Sprintf("; %d of its rows are not used, the first at %s", x.Unused, x.Unknown)
	}
	return text
}

// ErrNoRow is in the error of Table.Costs if the table says nothing of the network's operations.
var ErrNoRow = errors.New("no row")

// Whole returns what the table says of a network as a whole on a device; ok is false where it says nothing. at is the first row about it.
func (t *Table) Whole(network, device string) (c partition.Cost, at string, ok bool) {
	var rows []*tableRow
	for _, r := range t.rows {
		if r.kind == TableNetwork && r.network == network && r.device == device {
			rows = append(rows, r)
		}
	}
	if rows == nil {
		return unknown, "", false
	}
	return mean(rows), rows[0].at, true
}

// Networks are the names of networks that the table has rows of, in their order.
func (t *Table) Networks() (names []string) {
	for _, r := range t.rows {
		if r.network != "" && !slices.Contains(names, r.network) {
			names = append(names, r.network)
		}
	}
	return names
}

// complete reports whether nothing is missing.
func complete(cover []Coverage) bool {
	return !slices.ContainsFunc(cover, func(x Coverage) bool {
		return x.Operations > 0 && (x.Times < x.Operations || x.Energies < x.Operations || !x.Segment || !x.Kilobyte)
	})
}

// why says what a row that is not used is about.
func (r *tableRow) why(p *partition.Problem) string {
	switch {
	case r.elsewhere:
		return fmt.Sprintf("it is about network %s", r.network)
	case r.kind == TableNetwork:
		return "a network as a whole, which nnsoc schedule reads"
	case r.unsupported:
		return fmt.Sprintf("%s does not support the operation here", r.device)
	}
	var list []string
	for _, s := range []string{r.kind, r.name, r.input, r.filter, r.output} {
		if s != "" {
			list = append(list, s)
		}
	}
	return fmt.Sprintf("%s has no operation %s", p.Model.Name, strings.Join(list, " "))
}

// check names a row about a device or an operation that there is not.
func (t *Table) check(p *partition.Problem) error {
	var names []string
	for d := range p.Devices {
		names = append(names, p.Devices[d].Name)
	}
	all := subjects(p)
	for _, r := range t.rows {
		d := slices.Index(names, r.device)
		if d < 0 {
			return fmt.Errorf("%s: no device %q; there are %s", r.at, r.device, strings.Join(names, ", "))
		}
		if i := r.operation; i >= 0 && r.of(p) {
			if i >= len(all) {
				return fmt.Errorf("%s: operation %d; %s has %d", r.at, i, p.Model.Name, len(all))
			}
			if !r.about(&all[i]) {
				return fmt.Errorf("%s: operation %d of %s is %s, not what the row says", r.at, i, p.Model.Name, &all[i])
			}
			if s := &p.Devices[d].Support[i]; !s.OK {
				return fmt.Errorf("%s: %s does not support operation %d (%s): %s", r.at, r.device, i, p.Graph.Operations[i].Type, s.Reason)
			}
		}
	}
	return nil
}

// of reports whether a row is about the network of a problem.
func (r *tableRow) of(p *partition.Problem) bool { return r.network == "" || r.network == p.Model.Name }

// subject is an operation as rows name it.
type subject struct {
	kind                  string
	macs                  int64
	name, result          string // of the node and of its first output
	input, filter, output string // shapes
}

// subjects are the operations of a problem.
func subjects(p *partition.Problem) (list []subject) {
	g := &p.Model.Main
	for i := range p.Graph.Operations {
		op := &g.Operations[i]
		list = append(list, subject{p.Graph.Operations[i].Type, p.Graph.Operations[i].MACs, op.Name, g.Operands[op.Outputs[0]].Name,
			dimensions(g, op.Inputs, 0), dimensions(g, op.Inputs, 1), dimensions(g, op.Outputs, 0)})
	}
	return list
}

// dimensions are those of an operand, "" where there is none.
func dimensions(g *nn.Subgraph, operands []uint32, k int) string {
	if k >= len(operands) || g.Operands[operands[k]].Lifetime == nn.NoValue {
		return ""
	}
	var list []string
	for _, n := range g.Operands[operands[k]].Dimensions {
		list = append(list, fmt.Sprint(n))
	}
	return strings.Join(list, "x")
}

// String is the operation for errors.
func (s *subject) String() string {
	text := fmt.Sprintf("%s of %d MACs, input %s, output %s", s.kind, s.macs, s.input, s.output)
	if s.name != "" {
		text += ", name " + s.name
	}
	return text
}

// about reports whether a row is about an operation, its index and device apart.
func (r *tableRow) about(s *subject) bool {
	same := func(said, is string) bool { return said == "" || said == is }
	return same(r.kind, s.kind) && (r.macs < 0 || r.macs == s.macs) && same(r.input, s.input) && same(r.filter, s.filter) && same(r.output, s.output) &&
		(same(r.name, s.name) || r.name == s.result)
}

// selectors are what a row says of an operation: an index says more than a name, that more than a shape, and each more than a type.
func (r *tableRow) selectors() (weight int) {
	for _, s := range []struct {
		said   bool
		weight int
	}{{r.network != "", 1}, {r.kind != "", 2}, {r.macs >= 0, 2}, {r.input != "", 4}, {r.filter != "", 4}, {r.output != "", 4}, {r.name != "", 32}, {r.operation >= 0, 64}} {
		if s.said {
			weight += s.weight
		}
	}
	return weight
}

// says reports whether two rows say the same of an operation.
func (r *tableRow) says(s *tableRow) bool {
	return r.network == s.network && r.operation == s.operation && r.name == s.name && r.kind == s.kind && r.macs == s.macs &&
		r.input == s.input && r.filter == s.filter && r.output == s.output
}

// mean is the mean of rows that say the same, parts that no row has NaN.
func mean(rows []*tableRow) partition.Cost {
	of := func(field func(*tableRow) float64) float64 {
		sum, n := 0.0, 0.0
		for _, r := range rows {
			if v := field(r); !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		return sum / n
	}
	return partition.Cost{TimeFs: of(func(r *tableRow) float64 { return r.timeFs }), EngineFs: of(func(r *tableRow) float64 { return r.engineFs }), EnergyPJ: of(func(r *tableRow) float64 { return r.energyPJ })}
}

// unknown is a cost that the table does not have.
var unknown = partition.Cost{TimeFs: math.NaN(), EngineFs: math.NaN(), EnergyPJ: math.NaN()}

// find is the cost of what rows are about: of those that say the most.
func find(rows []*tableRow, about func(*tableRow) bool) (partition.Cost, error) {
	var best []*tableRow
	for _, r := range rows {
		if !about(r) {
			continue
		}
		switch {
		case len(best) == 0 || r.selectors() > best[0].selectors():
			best = []*tableRow{r}
		case r.selectors() == best[0].selectors():
			if !r.says(best[0]) {
				return unknown, fmt.Errorf("%s and %s are about the same operation, and neither says more of it", best[0].at, r.at)
			}
			best = append(best, r)
		}
		r.used = true // others say more of all that it is about, or it counts
	}
	if best == nil {
		return unknown, nil
	}
	return mean(best), nil
}

// apply returns what the table says of a problem, and counts it. Rows with an index are about the main subgraph.
func (t *Table) apply(p *partition.Problem, main bool, cover []Coverage) (c partition.Costs, err error) {
	all := subjects(p)
	for d := range p.Devices {
		x := &cover[d]
		var operations, others []*tableRow
		for _, r := range t.rows {
			switch {
			case r.device != x.Device:
			case !r.of(p) && main:
				r.elsewhere = true
			case r.kind == TableSegment || r.kind == TableKilobyte:
				others = append(others, r)
			case r.kind != TableNetwork && (main || r.operation < 0 && r.network == ""):
				operations = append(operations, r)
			}
		}
		row := make([]partition.Cost, len(p.Graph.Operations))
		for i := range row {
			if row[i] = unknown; !p.Devices[d].Support[i].OK {
				for _, r := range operations {
					r.unsupported = r.unsupported || r.about(&all[i])
				}
				continue
			}
			x.Operations++
			row[i], err = find(operations, func(r *tableRow) bool { return (r.operation < 0 || r.operation == i) && r.about(&all[i]) })
			if err != nil {
				return c, err
			}
			if !math.IsNaN(row[i].TimeFs) {
				x.Times++
			} else if x.Missing == "" {
				x.Missing = fmt.Sprintf("%d, %s", i, &all[i])
			}
			if !math.IsNaN(row[i].EnergyPJ) {
				x.Energies++
			}
		}
		c.Operation = append(c.Operation, row)
		segment, _ := find(others, func(r *tableRow) bool { return r.kind == TableSegment })
		kilobyte, _ := find(others, func(r *tableRow) bool { return r.kind == TableKilobyte })
		x.Segment, x.Kilobyte = !math.IsNaN(segment.TimeFs), !math.IsNaN(kilobyte.TimeFs)
		for _, v := range []*float64{&kilobyte.TimeFs, &kilobyte.EngineFs, &kilobyte.EnergyPJ} {
			*v /= 1000
		}
		c.Fixed, c.PerByte = append(c.Fixed, segment), append(c.PerByte, kilobyte)
	}
	for k, sub := range p.Subgraphs {
		costs, err := t.apply(sub, false, cover)
		if err != nil {
			return c, err
		}
		setSubgraph(&c, k, costs)
	}
	return c, nil
}

// fill returns costs with what is not known taken from others.
func fill(p *partition.Problem, c, from partition.Costs) partition.Costs {
	one := func(x *partition.Cost, y partition.Cost) {
		switch {
		case !math.IsNaN(x.TimeFs) && y == partition.Never: // the simulator has no figure of the operation alone
			y.EnergyPJ = 0
		case math.IsNaN(x.TimeFs):
			x.TimeFs, x.EngineFs = y.TimeFs, y.EngineFs
		}
		if math.IsNaN(x.EnergyPJ) || y == partition.Never && x.TimeFs == y.TimeFs {
			x.EnergyPJ = y.EnergyPJ
		}
	}
	inside := controlInside(p, &c)
	for d := range c.Operation {
		for i := range c.Operation[d] {
			one(&c.Operation[d][i], from.Operation[d][i])
		}
		one(&c.Fixed[d], from.Fixed[d])
		one(&c.PerByte[d], from.PerByte[d])
	}
	c.Rounds = from.Rounds
	for k, sub := range p.Subgraphs {
		known, ok := from.Subgraphs[k]
		if !ok { // the runtime cannot execute it
			delete(c.Subgraphs, k)
			continue
		}
		setSubgraph(&c, k, fill(sub, c.Subgraphs[k], known))
	}
	with := *p
	with.Costs = c
	for _, x := range inside {
		if cost, ok := with.Inside(x.control, x.device); ok {
			c.Operation[x.device][x.control.Operation] = cost
		}
	}
	return c
}

// placedControl is control flow on a device.
type placedControl struct {
	control *partition.Control
	device  int
}

// controlInside lists the control flow that the table has no cost of but some of what it runs: it costs the sum of that.
func controlInside(p *partition.Problem, c *partition.Costs) (list []placedControl) {
	for i := range p.Control {
		x := &p.Control[i]
		for d := range p.Devices {
			known := slices.ContainsFunc(x.Subgraphs[:], func(k uint32) bool {
				return slices.ContainsFunc(c.Subgraphs[k].Operation[d], func(y partition.Cost) bool { return !math.IsNaN(y.TimeFs) })
			})
			if known && p.Devices[d].Support[x.Operation].OK && math.IsNaN(c.Operation[d][x.Operation].TimeFs) {
				list = append(list, placedControl{x, d})
			}
		}
	}
	return list
}
