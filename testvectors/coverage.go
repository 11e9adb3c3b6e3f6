package testvectors

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Coverage is one operation with one key type: the HAL version that allows it,
// the cases of a corpus that contain it, and how many of those pass by device.
// A case counts for every operation and type it contains.
type Coverage struct {
	Operation nn.OperationType
	Type      nn.OperandType
	Since     opspec.Version
	Cases     int
	Passed    []int // in the order of the devices
}

// Cover runs every case on every device and counts the passes, a row for each operation and type of the opspec table in
// its order. Cases that must fail are left out. progress may be nil.
func Cover(devices []hal.Device, files []*vectors.File, progress func(device string, done, total int)) []Coverage {
	type key struct {
		op nn.OperationType
		t  nn.OperandType
	}
	rows := map[key]*Coverage{}
	var table []*Coverage
	for _, op := range nn.Operations() {
		row := opspec.Lookup(op)
		if row == nil {
			continue
		}
		for _, t := range row.KeyTypes() {
			since, _ := row.TypeSince(t)
			c := &Coverage{Operation: op, Type: t, Since: since, Passed: make([]int, len(devices))}
			rows[key{op, t}] = c
			table = append(table, c)
		}
	}
	valid := make([]*vectors.File, 0, len(files))
	for _, f := range files {
		v := *f
		v.Cases = nil
		for _, c := range f.Cases {
			if c.Model != nil && !c.ExpectFailure {
				v.Cases = append(v.Cases, c)
			}
		}
		valid = append(valid, &v)
	}
	contains := func(c *vectors.Case) []*Coverage {
		seen := map[*Coverage]bool{}
		var list []*Coverage
		graphs := append([]nn.Subgraph{c.Model.Main}, c.Model.Referenced...)
		for g := range graphs {
			for i := range graphs[g].Operations {
				op := &graphs[g].Operations[i]
				t, ok := opspec.KeyOf(&graphs[g], op)
				if r := rows[key{op.Type, t}]; ok && r != nil && !seen[r] {
					seen[r] = true
					list = append(list, r)
				}
			}
		}
		return list
	}
	for _, f := range valid {
		for _, c := range f.Cases {
			for _, r := range contains(c) {
				r.Cases++
			}
		}
	}
	for d, dev := range devices {
		p := Plan{Device: dev, Files: valid, Functional: dev.Type() != hal.DeviceCPU} // the CPU's time is part of its correctness
		if progress != nil {
			p.Progress = func(done, total int) { progress(dev.Name(), done, total) }
		}
		p.Visit = func(c *vectors.Case, passed bool) {
			if passed {
				for _, r := range contains(c) {
					r.Passed[d]++
				}
			}
		}
		p.Execute()
	}
	list := make([]Coverage, len(table))
	for i, r := range table {
		list[i] = *r
	}
	return list
}
