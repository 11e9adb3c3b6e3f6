package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareSvdf is SVDF: a memory of projected inputs per filter, weighted over
// time and summed over the ranks of each unit.
func prepareSvdf(v opspec.View, op *nn.Operation) (kern, error) {
	return bindRecurrent(v, op, func(r *recurrentArgs) error {
		in := r.get("input", -1, -1)
		if r.err != nil {
			return r.err
		}
		batch := in.rows()
		feature := r.get("weights_feature", -1, in.cols())
		if r.err != nil {
			return r.err
		}
		filters := feature.rows()
		wTime := r.get("weights_time", filters, -1)
		rank, act := int(r.int32("rank")), r.activation("activation")
		if r.err != nil {
			return r.err
		}
		if wTime.cols() < 1 {
			r.fail("weights_time", "shape %v", wTime.dims)
			return r.err
		}
		if rank < 1 || filters%rank != 0 {
			r.fail("rank", "%d for %d filters", rank, filters)
			return r.err
		}
		units, memory := filters/rank, wTime.cols()
		bias := r.get("bias", units)
		state := r.get("state_in", batch, filters*memory)
		if r.spend(batch, filters, memory+in.cols()); r.err != nil {
			return r.err
		}
		next := make([]float32, len(state.v))
		newest, out := make([]float32, batch*filters), make([]float32, batch*units)
		multiply(newest, feature, in.v, batch)
		for b := range batch {
			for f := range filters {
				row := next[(b*filters+f)*memory:][:memory]
				copy(row, state.v[(b*filters+f)*memory:])
				row[memory-1] = newest[b*filters+f]
				sum := float32(0)
				for m, v := range row {
					sum += float32(v * wTime.v[f*memory+m])
				}
				out[b*units+f/rank] += sum
				copy(row, row[1:]) // room for the next step's
				row[memory-1] = 0
			}
			for u := range units {
				v := out[b*units+u]
				if bias.given() {
					v += bias.v[u]
				}
				out[b*units+u] = act(v)
			}
		}
		if err := r.give([]uint32{uint32(batch), uint32(filters * memory)}, []uint32{uint32(batch), uint32(units)}); err != nil {
			return err
		}
		r.put(0, next)
		r.put(1, out)
		return nil
	})
}
