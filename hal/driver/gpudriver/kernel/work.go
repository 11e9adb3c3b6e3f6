package kernel

import (
	"reflect"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Work is the work of all waves of a launch, from which the cost model estimates cycles. Its bytes
// are distinct ones, constants included.
type Work = rdna.Work

// WorkOf counts the work of a launch of a kernel that reads and writes tensors from its code, in
// which loops that depend on data have approximate counts.
func WorkOf(k Kernel, reads, writes []*layout.Tensor) Work {
	b := rdna.New(rdna2.NewTarget(), "", 0)
	grid := k.Emit(b)
	w := b.Work()
	w.Waves = grid.Waves()
	float := 4
	for _, n := range []*int64{&w.Instructions, &w.Dots, &w.Loads} {
		*n *= int64(w.Waves)
	}
	lanes := int64(min(32*w.Waves, grid.Lanes[0]*grid.Lanes[1]*grid.Lanes[2]))
	w.ScatteredLines = w.ScatteredLines * lanes / 32
	size := func(list []*layout.Tensor) (bytes int64) {
		for _, t := range list {
			bytes += int64(t.Bytes())
		}
		return bytes
	}
	if len(reads) > 0 {
		float = reads[0].Elem.Bytes()
	}
	w.ReadBytes = min(w.ReadBytes*lanes/32, size(reads)+int64(constants(reflect.ValueOf(k), float)))
	w.WriteBytes = min(w.WriteBytes*lanes/32, size(writes))
	return w
}

// constants are the bytes of the numbers that a kernel packs, floats of so many bytes.
func constants(v reflect.Value, float int) (bytes int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return constants(v.Elem(), float)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += constants(v.Field(i), float)
		}
	case reflect.Slice:
		switch e := v.Type().Elem(); e.Kind() {
		case reflect.Float32:
			return v.Len() * float
		case reflect.Int8, reflect.Uint8, reflect.Int32, reflect.Uint32:
			return v.Len() * int(e.Size())
		}
	}
	return bytes
}
