package pprof

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/google/pprof/profile"
)

// Summary adds up a profile.
type Summary struct {
	Total                                Costs
	Operations, Programs, Stalls, Places []Row // dearest first
}

// Costs are the values of a profile: cycles, nanoseconds, picojoules, executions.
type Costs [numValues]int64

// Row is the costs of a name.
type Row struct {
	Device, Name string
	Text         string // of a place: its instruction
	Costs        Costs
}

// maxProfile bounds the bytes of a profile that is read, uncompressed.
const maxProfile = 512 << 20

// Read reads a compressed profile that a Recorder wrote. The error of other data is ErrFormat.
func Read(r io.Reader) (*profile.Profile, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, ErrFormat
	}
	data, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil {
		return nil, fmt.Errorf("pprof: %w", err)
	}
	if len(data) > maxProfile {
		return nil, fmt.Errorf("pprof: more than %d MiB", maxProfile>>20)
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, ErrFormat
	}
	return p, nil
}

// ErrFormat is the error of Read for files of other formats.
var ErrFormat = errors.New("pprof: no profile")

// Summarize adds up a profile of a Recorder and orders its rows by a value.
func Summarize(p *profile.Profile, by Value) (*Summary, error) {
	var at [numValues]int
	for v := range numValues {
		at[v] = slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == values[v].name && t.Unit == values[v].unit })
		if at[v] < 0 {
			return nil, errors.New("pprof: no profile of simulated cycles: it lacks the value " + values[v].name)
		}
	}
	s := &Summary{}
	tables := map[*[]Row]map[Row]*Costs{}
	add := func(to *[]Row, key Row, c *Costs) {
		if tables[to] == nil {
			tables[to] = map[Row]*Costs{}
		}
		sum := tables[to][key]
		if sum == nil {
			sum = &Costs{}
			tables[to][key] = sum
		}
		sum.add(c)
	}
	for _, x := range p.Sample {
		var c Costs
		for v, i := range at {
			c[v] = x.Value[i]
		}
		s.Total.add(&c)
		frames := frames(x)
		if len(frames) == 0 {
			return nil, errors.New("pprof: a sample without a stack")
		}
		device := frames[0]
		row := Row{Device: device}
		leaf := x.Location[0]
		if len(frames) > 1 && leaf.Mapping != nil && leaf.Mapping.ID > 1 {
			row.Name = frames[len(frames)-1]
			add(&s.Programs, row, &c)
			frames = frames[:len(frames)-1]
			if instruction := x.Label["instruction"]; len(instruction) > 0 {
				row.Text = instruction[0]
				row.Name = fmt.Sprintf("%s+%#x", row.Name, leaf.Address-leaf.Mapping.Start)
				add(&s.Places, row, &c)
			}
		}
		if len(frames) > 1 {
			add(&s.Operations, Row{Device: device, Name: frames[1]}, &c)
		}
		if stall := x.Label["stall"]; len(stall) > 0 {
			add(&s.Stalls, Row{Device: device, Name: stall[0]}, &c)
		}
	}
	for to, table := range tables {
		for key, c := range maps.All(table) {
			key.Costs = *c
			*to = append(*to, key)
		}
		slices.SortFunc(*to, func(a, b Row) int {
			return cmp.Or(cmp.Compare(b.Costs[by], a.Costs[by]), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Text, b.Text))
		})
	}
	return s, nil
}

func (c *Costs) add(o *Costs) {
	for v, n := range o {
		c[v] += n
	}
}

// frames are the names of a stack, the outermost first.
func frames(s *profile.Sample) (list []string) {
	for _, l := range slices.Backward(s.Location) {
		if len(l.Line) > 0 && l.Line[0].Function != nil {
			list = append(list, l.Line[0].Function.Name)
		}
	}
	return list
}
