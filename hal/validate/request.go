package validate

import (
	"fmt"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Request checks a request against the main subgraph of its model: as many arguments as
// inputs and outputs, locations inside their pools, dimensions that complete those of
// the model, inputs of exactly the operand's size, outputs of at least that size. An
// input whose shape neither states must be a whole number of elements. Device memory has
// no location; its size and roles are the driver's to check.
func Request(m *nn.Model, r *hal.Request) error {
	if m == nil || r == nil {
		return invalid(fmt.Errorf("validate: request: nothing given"))
	}
	g := &m.Main
	if len(r.Inputs) != len(g.Inputs) || len(r.Outputs) != len(g.Outputs) {
		return invalid(fmt.Errorf("validate: request: %d inputs and %d outputs, the model has %d and %d",
			len(r.Inputs), len(r.Outputs), len(g.Inputs), len(g.Outputs)))
	}
	for i := range r.Pools {
		if p := &r.Pools[i]; p.Memory != nil {
			if err := Pool(p.Memory); err != nil {
				return invalid(fmt.Errorf("validate: request: pool %d: %w", i, err))
			}
		} else if p.Token == 0 {
			return invalid(fmt.Errorf("validate: request: pool %d is neither a memory nor the token of one", i))
		}
	}
	for k, list := range [2][]hal.RequestArgument{r.Inputs, r.Outputs} {
		what, operands := [2]string{"input", "output"}[k], [2][]uint32{g.Inputs, g.Outputs}[k]
		for i := range list {
			if err := argument(r, &list[i], &g.Operands[operands[i]], k == 0); err != nil {
				return invalid(fmt.Errorf("validate: request: %s %d: %w", what, i, err))
			}
		}
	}
	return nil
}

// argument checks one argument of a request.
func argument(r *hal.Request, a *hal.RequestArgument, o *nn.Operand, input bool) error {
	l := a.Location
	if a.HasNoValue {
		if l != (hal.DataLocation{}) || len(a.Dimensions) > 0 {
			return fmt.Errorf("no value, but a location or dimensions")
		}
		return nil
	}
	if uint64(l.PoolIndex) >= uint64(len(r.Pools)) {
		return fmt.Errorf("pool %d of %d", l.PoolIndex, len(r.Pools))
	}
	if err := dimensions(o, a.Dimensions); err != nil {
		return err
	}
	pool := r.Pools[l.PoolIndex].Memory
	if pool == nil {
		if l.Offset != 0 || l.Length != 0 {
			return fmt.Errorf("device memory has no offset and no length, %d and %d given", l.Offset, l.Length)
		}
		return nil
	}
	if uint64(l.Offset)+uint64(l.Length) > uint64(len(pool.Data)) {
		return fmt.Errorf("%d bytes at offset %d of a pool of %d bytes", l.Length, l.Offset, len(pool.Data))
	}
	if !input && pool.ReadOnly {
		return fmt.Errorf("pool %d is read only", l.PoolIndex)
	}
	whole := *o
	if len(a.Dimensions) > 0 {
		whole.Dimensions = a.Dimensions
	}
	if nn.IsForeign(o.Type) {
		return nil // only the driver knows how large values are
	}
	n := int64(l.Length)
	switch {
	case !whole.Known() && input:
		return fmt.Errorf("shape %v of the model and %v of the request: the shape of an input must be known", o.Dimensions, a.Dimensions)
	case !whole.Known():
	case input && n != whole.Bytes():
		return fmt.Errorf("%d bytes, %s %v has %d", n, o.Type, whole.Dimensions, whole.Bytes())
	case n < whole.Bytes():
		return fmt.Errorf("%d bytes, %s %v needs %d", n, o.Type, whole.Dimensions, whole.Bytes())
	}
	return nil
}

// dimensions checks that those of a request complete those of an operand.
func dimensions(o *nn.Operand, dims []uint32) error {
	if len(dims) == 0 {
		return nil
	}
	if o.Type.IsScalar() {
		return fmt.Errorf("dimensions %v of a scalar %s", dims, o.Type)
	}
	if len(dims) > MaxRank || nn.Elements(dims) < 0 {
		return fmt.Errorf("shape %v is too large", dims)
	}
	if len(o.Dimensions) > 0 && len(dims) != len(o.Dimensions) {
		return fmt.Errorf("dimensions %v do not match %v of the model", dims, o.Dimensions)
	}
	for k, d := range o.Dimensions {
		if d != 0 && d != dims[k] {
			return fmt.Errorf("dimensions %v do not match %v of the model", dims, o.Dimensions)
		}
	}
	return nil
}

// Fenced checks what a request with fences needs besides: fences, and outputs whose
// shapes are known and not empty.
func Fenced(m *nn.Model, r *hal.Request, waitFor []*hal.SyncFence, afterFence time.Duration) error {
	for i, f := range waitFor {
		if f.State() == hal.FenceUnknown {
			return invalid(fmt.Errorf("validate: request: fence %d is none", i))
		}
	}
	if afterFence < 0 {
		return invalid(fmt.Errorf("validate: request: a timeout of %v after the fences", afterFence))
	}
	g := &m.Main
	for i, x := range g.Outputs {
		o := g.Operands[x]
		if d := r.Outputs[i].Dimensions; len(d) > 0 {
			o.Dimensions = d
		}
		if !o.Known() {
			return invalid(fmt.Errorf("validate: request: output %d has shape %v; with fences it must be known", i, o.Dimensions))
		}
	}
	return nil
}

// memoryNames are the kinds of memory that a request may have.
var memoryNames = []hal.MemoryName{hal.Ashmem, hal.MmapFd, hal.HardwareBufferBlob, hal.HardwareBuffer}

// Pool checks a shared memory.
func Pool(m *hal.Memory) error {
	if m == nil {
		return invalid(fmt.Errorf("no memory"))
	}
	if !slices.Contains(memoryNames, m.Name) {
		return invalid(fmt.Errorf("no kind of memory %q", m.Name))
	}
	return nil
}
