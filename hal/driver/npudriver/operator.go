package npudriver

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/nn"
)

// Operator is a model for Arm's driver stack: constants behind base pointer 0, an arena behind
// 1, in which inputs and outputs are read and written, and memory on chip behind 2 where the
// arena has none.
type Operator struct {
	Commands        []uint32
	Constants       []byte
	ArenaBytes      int
	FastBytes       int   // 0: the arena is on chip
	Inputs, Outputs []int // offsets in the arena
	WeightBytes     int   // of Constants, encoded weights
}

// IOOffsets of inputs and outputs of an Operator that are given: offsets in the first Bytes of the
// arena, which hold nothing else.
type IOOffsets struct {
	Inputs, Outputs []int
	Bytes           int
}

// Operator compiles a model of known shapes as one operator. Without places, inputs and outputs
// are allocated for their lifetimes like other values.
func (d *Device) Operator(m *nn.Model, at *IOOffsets) (*Operator, error) {
	g := graph.New(m)
	g.Leaves = d.middleEnd.Leaves
	if err := family.Table().Passes.Run(g, nil); err != nil {
		return nil, err
	}
	where := lower.InPlace{}
	if at != nil {
		where = lower.InPlace{Inputs: at.Inputs, Outputs: at.Outputs, Bytes: at.Bytes}
	}
	list, err := lower.GraphInPlace(family.Table(), &d.cfg.Spec, g, d.cfg.Lowerings, where)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(d.driverStack(), list)
	if err != nil {
		return nil, err
	}
	o := &Operator{Commands: p.Code.Commands, Constants: p.Consts, ArenaBytes: p.Region(regionArena), FastBytes: p.Region(regionFast), WeightBytes: p.EncodedWeights}
	for _, of := range []struct {
		from []layout.Buffer
		to   *[]int
	}{{p.Inputs, &o.Inputs}, {p.Outputs, &o.Outputs}} {
		for i, b := range of.from {
			if b.Bytes == 0 || b.Region != regionArena {
				return nil, fmt.Errorf("npu: input or output %d has no place in the arena", i)
			}
			*of.to = append(*of.to, b.Addr)
		}
	}
	return o, nil
}

// Base pointers of Arm's driver stack.
const regionArena, regionFast = 1, 2

// driverStack is the machine as Arm's driver stack sets it up.
func (d *Device) driverStack() plan.Target {
	s := &d.cfg.Spec
	t := plan.Target{Spec: s, OnChip: d.cfg.OnChipBytes, Map: layout.Map{
		layout.RegionArena: regionArena, layout.RegionIO: regionArena, layout.RegionSpill: regionArena,
	}}
	if s.OnChipRegion() == regionArena {
		t.OnChip = arena.Unlimited
		return t
	}
	t.Map[layout.RegionArena] = regionFast
	return t
}
