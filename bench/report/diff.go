package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Diff is the differences between two runs of a network.
type Diff struct {
	Before string `json:"before_soc"` // the SoC
	After  string `json:"after_soc"`
	Model  string `json:"model"`
	// Other is the network after, where it is another one.
	Other string    `json:"other_model,omitempty"`
	Runs  []RunDiff `json:"runs"`
	// Only are devices that one of the two has not run.
	Only []string `json:"unmatched_devices,omitempty"`
}

// Change is a figure before and after.
type Change struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Delta is the difference.
func (c Change) Delta() float64 { return c.After - c.Before }

// Percent is the difference relative to the value before; of nothing to something it is
// infinite.
func (c Change) Percent() float64 {
	if c.After == c.Before {
		return 0
	}
	return 100 * c.Delta() / math.Abs(c.Before)
}

// RunDiff is the differences on a device.
type RunDiff struct {
	Device    string            `json:"device"`
	Status    [2]string         `json:"status_change"`
	LatencyUS Change            `json:"latency_us"`
	EnergyUJ  Change            `json:"energy_uj"`
	Parts     map[string]Change `json:"latency_parts_us"` // parts that differ
	Counters  map[string]Change `json:"memory_changes"`   // of the memory
	Events    []CounterChange   `json:"counter_changes"`  // of the devices
	// Operations differ in time, energy, device or traffic, the largest difference in time first.
	Operations []OperationDiff `json:"operations"`
	Same       int             `json:"same_operations"`
}

// OperationDiff is the differences of an operation. One of the two is missing when the other network does not have it.
type OperationDiff struct {
	Index     int         `json:"index"`
	Type      string      `json:"type"`
	Output    []uint32    `json:"output_shape,omitempty"`
	Where     [2]string   `json:"device_change"` // "" is nowhere
	TimeUS    Change      `json:"time_us"`
	EnergyUJ  Change      `json:"energy_uj"`
	DRAMBytes Change      `json:"dram_bytes"`
	Why       []WhyChange `json:"stall_changes,omitempty"` // the largest first
	// Counters are events that differ, of engines that count them, the largest in percent first.
	Counters []CounterChange `json:"counter_changes,omitempty"`
}

// CounterChange is how often something happened.
type CounterChange struct {
	Name  string `json:"name"`
	Count Change `json:"count"`
}

// WhyChange is a stall reason's part in the change of an operation's time.
type WhyChange struct {
	Reason string `json:"reason"`
	US     Change `json:"time_us"`
}

// Compare returns the differences from one run of a network to another.
func Compare(a, b *File) (*Diff, error) {
	d := &Diff{Before: a.SoC, After: b.SoC, Model: a.Model, Runs: []RunDiff{}}
	if b.Model != a.Model {
		d.Other = b.Model
	}
	pairs := [][2]*Run{}
	if len(a.Runs) == 1 && len(b.Runs) == 1 {
		pairs = append(pairs, [2]*Run{&a.Runs[0], &b.Runs[0]})
	} else {
		for i := range a.Runs {
			if other := b.Find(a.Runs[i].Device); other != nil {
				pairs = append(pairs, [2]*Run{&a.Runs[i], other})
			} else {
				d.Only = append(d.Only, a.Runs[i].Device)
			}
		}
		for i := range b.Runs {
			if a.Find(b.Runs[i].Device) == nil {
				d.Only = append(d.Only, b.Runs[i].Device)
			}
		}
	}
	for _, p := range pairs {
		if p[0].timed() && p[1].timed() {
			d.Runs = append(d.Runs, compareRuns(p[0], p[1]))
		}
	}
	if len(d.Runs) == 0 {
		return nil, fmt.Errorf("no device has run in both with a latency")
	}
	return d, nil
}

func compareRuns(a, b *Run) RunDiff {
	d := RunDiff{
		Device: a.Device, Status: [2]string{a.Status, b.Status}, Parts: changes(a.LatencyParts, b.LatencyParts),
		LatencyUS: Change{*a.LatencyUS, *b.LatencyUS}, EnergyUJ: Change{*a.EnergyUJ, *b.EnergyUJ},
		Counters: changes(a.counters(), b.counters()), Events: events(a.events(), b.events()), Operations: []OperationDiff{},
	}
	if b.Device != a.Device {
		d.Device += " -> " + b.Device
	}
	for _, p := range match(a.Operations, b.Operations) {
		if o, differs := compareOperations(a, b, p[0], p[1]); differs {
			d.Operations = append(d.Operations, o)
		} else {
			d.Same++
		}
	}
	slices.SortStableFunc(d.Operations, func(x, y OperationDiff) int {
		return cmp.Compare(math.Abs(y.TimeUS.Delta()), math.Abs(x.TimeUS.Delta()))
	})
	return d
}

// events are the counters of a run's devices, led by their names where there are several.
func (r *Run) events() map[string]int64 {
	m := map[string]int64{}
	for i := range r.Devices {
		prefix := ""
		if len(r.Devices) > 1 {
			prefix = r.Devices[i].Device + " "
		}
		for k, v := range r.Devices[i].Counters {
			m[prefix+k] = v
		}
	}
	return m
}

// events are the counts that differ, the largest change in percent first; one that is missing
// is 0.
func events(a, b map[string]int64) []CounterChange {
	list := []CounterChange{}
	floats := func(m map[string]int64) map[string]float64 {
		f := map[string]float64{}
		for k, v := range m {
			f[k] = float64(v)
		}
		return f
	}
	for k, c := range changes(floats(a), floats(b)) {
		list = append(list, CounterChange{k, c})
	}
	slices.SortFunc(list, func(x, y CounterChange) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Count.Percent()), math.Abs(x.Count.Percent())), cmp.Compare(x.Name, y.Name))
	})
	return list
}

// counters are the memory counters of a run's devices.
func (r *Run) counters() map[string]float64 {
	m := map[string]float64{}
	for i := range r.Devices {
		x := r.Devices[i].Memory
		if x == nil {
			continue
		}
		name := r.Devices[i].Device + " "
		m[name+"read bytes"], m[name+"written bytes"] = float64(x.ReadBytes), float64(x.WriteBytes)
		m[name+"bursts"], m[name+"row hits"], m[name+"wait ns"] = float64(x.Bursts), float64(x.RowHits), x.WaitNS
		if c := x.SystemCache; c != nil {
			m[name+"system cache hits"], m[name+"system cache misses"] = float64(c.Hits), float64(c.Misses)
		}
	}
	return m
}

// changes are the values that differ; one that is missing is 0.
func changes(a, b map[string]float64) map[string]Change {
	m := map[string]Change{}
	for _, side := range [2]map[string]float64{a, b} {
		for k := range side {
			if a[k] != b[k] {
				m[k] = Change{a[k], b[k]}
			}
		}
	}
	return m
}

// pair is an operation before and after, as places in the two lists; -1 is none.
type pair [2]*Operation

// maxMatch bounds the table of a longest common subsequence.
const maxMatch = 1 << 24

// match pairs the operations of two runs: those of the same network by their places, those
// of two networks by their longest common subsequence of types and shapes.
func match(a, b []Operation) []pair {
	same := func(x, y *Operation) bool {
		return (x.Index < 0) == (y.Index < 0) && x.Type == y.Type && equalShapes(x.Outputs, y.Outputs)
	}
	if equalNetworks(a, b) || len(a)*len(b) > maxMatch {
		same = func(x, y *Operation) bool { return x.Index == y.Index && x.Type == y.Type }
	}
	if len(a)*len(b) > maxMatch {
		return matchByPlace(a, b, same)
	}
	// length[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(&a[i], &b[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var list []pair
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && same(&a[i], &b[j]):
			list = append(list, pair{&a[i], &b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			list = append(list, pair{&a[i], nil})
			i++
		default:
			list = append(list, pair{nil, &b[j]})
			j++
		}
	}
	return list
}

// matchByPlace is for networks of thousands of operations.
func matchByPlace(a, b []Operation, same func(x, y *Operation) bool) []pair {
	var list []pair
	for i := range max(len(a), len(b)) {
		switch {
		case i < len(a) && i < len(b) && same(&a[i], &b[i]):
			list = append(list, pair{&a[i], &b[i]})
		default:
			if i < len(a) {
				list = append(list, pair{&a[i], nil})
			}
			if i < len(b) {
				list = append(list, pair{nil, &b[i]})
			}
		}
	}
	return list
}

// equalNetworks reports whether two runs are of the same operations, whatever their devices
// add to them.
func equalNetworks(a, b []Operation) bool {
	of := func(l []Operation) (types []string) {
		for i := range l {
			if l[i].Index >= 0 {
				types = append(types, l[i].Type)
			}
		}
		return types
	}
	return slices.Equal(of(a), of(b))
}

func equalShapes(a, b [][]uint32) bool {
	return slices.EqualFunc(a, b, func(x, y []uint32) bool { return slices.Equal(x, y) })
}

func compareOperations(ra, rb *Run, a, b *Operation) (d OperationDiff, differs bool) {
	var times [2]map[string]float64
	var counts [2]map[string]int64
	for side, x := range [2]*Operation{a, b} {
		if x == nil {
			continue
		}
		d.Index, d.Type, d.Where[side] = x.Index, x.Type, x.Device
		if len(x.Outputs) > 0 {
			d.Output = x.Outputs[0]
		}
		run := [2]*Run{ra, rb}[side]
		times[side], counts[side] = x.stallTimes(run.clock(x.Device)), x.Counters
		for _, f := range []struct {
			c *Change
			v float64
		}{{&d.TimeUS, x.TimeUS}, {&d.EnergyUJ, x.EnergyUJ}, {&d.DRAMBytes, float64(x.DRAMBytes)}} {
			if side == 0 {
				f.c.Before = f.v
			} else {
				f.c.After = f.v
			}
		}
	}
	differs = d.Where[0] != d.Where[1] || d.TimeUS.Delta() != 0 || d.EnergyUJ.Delta() != 0 || d.DRAMBytes.Delta() != 0
	if a != nil && b != nil && a.Device == b.Device { // engines count different events
		if d.Counters = events(counts[0], counts[1]); len(d.Counters) > 0 {
			differs = true
		}
	}
	why := changes(times[0], times[1])
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		d.Why = append(d.Why, WhyChange{reason, why[reason]})
	}
	slices.SortStableFunc(d.Why, func(x, y WhyChange) int { return cmp.Compare(math.Abs(y.US.Delta()), math.Abs(x.US.Delta())) })
	return d, differs
}

// stallTimes are the microseconds of an operation by reason.
func (o *Operation) stallTimes(mhz float64) map[string]float64 {
	m := map[string]float64{}
	for reason, cycles := range o.Stalls {
		if mhz > 0 {
			m[reason] = float64(cycles) / mhz
		}
	}
	return m
}

// Explain is the part of Why that is most of a change in time: the reasons that changed the
// same way, the largest first, until they make four fifths of it.
func (d *OperationDiff) Explain() []WhyChange {
	total := d.TimeUS.Delta()
	var list []WhyChange
	sum := 0.0
	for _, w := range d.Why {
		if total == 0 || math.Abs(sum) >= 0.8*math.Abs(total) {
			break
		}
		if x := w.US.Delta(); x*total > 0 {
			list, sum = append(list, w), sum+x
		}
	}
	return list
}

// Worst is the largest increase in percent of a latency or an energy, and its subject.
func (d *Diff) Worst() (percent float64, what string) {
	for i := range d.Runs {
		r := &d.Runs[i]
		for _, x := range []struct {
			c    Change
			name string
		}{{r.LatencyUS, "latency"}, {r.EnergyUJ, "energy"}} {
			if p := x.c.Percent(); p > percent {
				percent, what = p, x.name+" on "+r.Device
			}
		}
	}
	return percent, what
}
