package soc

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Alias is a key that stands for others: what an architect asks for, in place of the numbers that say it.
type Alias struct {
	Key     string
	Example string // a value
	Meaning string // one sentence or more
	expand  func(c *Config, value string) ([]Change, error)
}

// aliases are all. A value of a clock or a bandwidth is a number, or "*" and a factor of what the SoC has.
var aliases = []Alias{
	{"cpu.clock", "*0.8", "Highest clock of the CPU in MHz; all operating points of all clusters scale with it, voltages stay.", clockOf("cpu.cluster[%d].clock")},
	{"gpu.clock", "*0.8", "Highest clock of the GPU in MHz; all operating points scale with it, voltages stay.", clockOf("gpu.clock")},
	{"dsp.clock", "*0.8", "Highest clock of the DSP in MHz; all operating points scale with it, voltages stay.", clockOf("dsp.clock")},
	{"npu.clock", "*0.8", "Highest clock of the NPU in MHz; all operating points scale with it, voltages stay.", clockOf("npu.clock")},
	{"npu.array", "32x32", "Multiply-accumulates of a core per cycle as ROWSxCOLUMNS: a column for each output channel (npu.ublock[2]), rows for the inputs that it sums (npu.ifm_depth) at several positions (npu.ublock[0], [1], as square as they can be).", array},
	{"dram.bandwidth", "*0.5", "Peak bandwidth of DRAM in GB/s, by transfers per second (dram.mt_per_s); timings in ns stay.", bandwidth},
}

// Aliases lists the keys that stand for others.
func Aliases() []Alias { return append([]Alias{}, aliases...) }

// expanded replaces changes of aliases by those that they stand for.
func (c *Config) expanded(changes []Change) (list []Change, err error) {
	for _, x := range changes {
		more := []Change{x}
		for i := range aliases {
			if aliases[i].Key == x.Key {
				if more, err = aliases[i].expand(c, x.Value); err != nil {
					return nil, fmt.Errorf("%s: %w", x, err)
				}
			}
		}
		list = append(list, more...)
	}
	return list, nil
}

// scaled reads a number, or a factor of the present one.
func scaled(value string, now float64) (float64, error) {
	text, relative := strings.CutPrefix(value, "*")
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q, want a number above 0, or *0.8 for a factor", value)
	}
	if relative {
		x *= now
	}
	return x, nil
}

// number is the text of a value that a key accepts: ten digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }

// clockOf scales the operating points and the preferences of clocks, whose path may have the number of a cluster.
func clockOf(path string) func(*Config, string) ([]Change, error) {
	return func(c *Config, value string) ([]Change, error) {
		var clocks []*Clock
		var paths []string
		for i := 0; i == 0 || strings.Contains(path, "%d"); i++ {
			at := path
			if strings.Contains(path, "%d") {
				if at = fmt.Sprintf(path, i); c.CPU != nil && i >= len(c.CPU.Clusters) {
					break
				}
			}
			f, err := find(reflect.ValueOf(c).Elem(), at+".opps[0].mhz")
			if err != nil {
				return nil, err
			}
			clocks, paths = append(clocks, f.clock), append(paths, at)
		}
		top := 0.0
		for _, k := range clocks {
			top = max(top, k.FastMHz)
		}
		to, err := scaled(value, top)
		if err != nil {
			return nil, err
		}
		var list []Change
		for i, k := range clocks {
			set := func(key string, mhz float64) {
				if mhz != 0 {
					list = append(list, Change{paths[i] + "." + key, number(mhz * to / top)})
				}
			}
			for n, o := range k.OPPs {
				set(fmt.Sprintf("opps[%d].mhz", n), o.MHz)
			}
			set("low_power_mhz", k.LowPowerMHz)
			set("sustained_mhz", k.SustainedMHz)
			set("fast_mhz", k.FastMHz)
		}
		return list, nil
	}
}

// array divides rows among the inputs that a column sums and positions of the output.
func array(c *Config, value string) ([]Change, error) {
	if c.NPU == nil {
		return nil, fmt.Errorf("npu is not in this SoC")
	}
	r, k, ok := strings.Cut(value, "x")
	rows, err := strconv.Atoi(r)
	columns, err2 := strconv.Atoi(k)
	if !ok || err != nil || err2 != nil || rows <= 0 || columns <= 0 {
		return nil, fmt.Errorf("%q, want ROWSxCOLUMNS such as 32x32", value)
	}
	depth := c.NPU.IFMDepth
	if rows%depth != 0 {
		return nil, fmt.Errorf("%d rows, want a multiple of npu.ifm_depth, %d: the inputs that a column sums in a cycle", rows, depth)
	}
	h, positions := 1, rows/depth
	for n := 1; n*n <= positions; n++ {
		if positions%n == 0 {
			h = n
		}
	}
	return []Change{{"npu.ublock[0]", strconv.Itoa(h)}, {"npu.ublock[1]", strconv.Itoa(positions / h)}, {"npu.ublock[2]", strconv.Itoa(columns)}}, nil
}

// bandwidth changes the transfers per second.
func bandwidth(c *Config, value string) ([]Change, error) {
	d := c.DRAM.Config()
	now := d.PeakBytesPerSecond() / 1e9
	to, err := scaled(value, now)
	if err != nil {
		return nil, err
	}
	return []Change{{"dram.mt_per_s", number(c.DRAM.MTPerS * to / now)}}, nil
}

// Meant is the alias of a key, with the changes that a value of it stands for in a SoC; ok is false for a key that is none.
func Meant(nameOrPath, key, value string) (a Alias, list []Change, ok bool, err error) {
	for i := range aliases {
		if aliases[i].Key != key {
			continue
		}
		c, err := Load(nameOrPath)
		if err != nil {
			return a, nil, true, err
		}
		if value == "" {
			value = aliases[i].Example
		}
		if list, err = aliases[i].expand(c, value); err != nil {
			err = fmt.Errorf("soc: %s=%s: %w", key, value, err)
		}
		return aliases[i], list, true, err
	}
	return Alias{}, nil, false, nil
}

// Shape is a way to arrange the multiply-accumulates of an NPU's core: a block of the output and the inputs that each
// element of it sums in a cycle.
type Shape struct {
	Ublock   [3]int // height, width, channels
	IFMDepth int
}

// Layer is an operation as far as it fills a shape.
type Layer struct {
	Name   string
	Output [3]int // height, width, channels
	Inputs int    // channels that an element of the output sums
}

// Layers are kinds of operations that shapes suit differently.
var Layers = []Layer{
	{"first convolution 112x112x32 of 3 channels", [3]int{112, 112, 32}, 3},
	{"1x1 convolution 14x14x512 of 512", [3]int{14, 14, 512}, 512},
	{"depthwise 56x56x128", [3]int{56, 56, 128}, 1},
	{"fully connected 1001 of 1024", [3]int{1, 1, 1001}, 1024},
}

// Use is the share of the products of whole blocks that a layer needs: the rest of a block at an edge multiplies nothing.
func (s *Shape) Use(l *Layer) float64 {
	share := func(n, block int) float64 { return float64(n) / float64((n+block-1)/block*block) }
	use := share(l.Inputs, s.IFMDepth)
	for i, n := range l.Output {
		use *= share(n, s.Ublock[i])
	}
	return use
}

// Shapes are four ways to write the same number of multiply-accumulates, from wide to deep; nil where it does not divide.
func Shapes(macs int) (list []Shape) {
	for _, s := range []Shape{{[3]int{8, 8, 0}, 4}, {[3]int{4, 4, 0}, 4}, {[3]int{2, 2, 0}, 8}, {[3]int{1, 1, 0}, 16}} {
		per := s.Ublock[0] * s.Ublock[1] * s.IFMDepth
		if macs%per != 0 || macs < per {
			return nil
		}
		s.Ublock[2] = macs / per
		list = append(list, s)
	}
	return list
}
