package refcpu

import (
	"math/rand/v2"
	"sort"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareMultinomial is RANDOM_MULTINOMIAL: classes drawn with probabilities
// exp(logit). The same seeds draw the same classes.
func prepareMultinomial(v opspec.View, op *nn.Operation) (kern, error) {
	m, err := v.Multinomial(op)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		logits, seeds, out := x.floats(m.Logits, &x.shared), x.int32s(m.Seeds), x.int32s(m.Output)
		r := rand.New(rand.NewPCG(uint64(uint32(seeds[0])), uint64(uint32(seeds[1]))))
		sums := make([]float64, m.Classes)
		for b := range m.Batches {
			row := logits[b*m.Classes : (b+1)*m.Classes]
			top := -inf32
			for _, v := range row {
				top = max(top, v)
			}
			total := 0.
			for c, v := range row {
				total += exp(float64(v - top))
				sums[c] = total
			}
			for i := range m.Samples {
				u := r.Float64() * total
				c := sort.Search(m.Classes, func(c int) bool { return sums[c] > u })
				out[b*m.Samples+i] = int32(min(c, m.Classes-1))
			}
		}
		return nil
	}, nil
}
