package plan

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	core "github.com/nnsoc/nnsoc/npu"
)

// packer packs the constants of kernels, those of each weights, table and block depth once for all
// programs that a plan compares.
type packer struct {
	spec  *core.Spec
	blobs map[packKey]*blob
}

// packKey is what packed constants depend on.
type packKey struct {
	weights *kernel.Weights
	table   *byte
	depth   int // of the block
}

// blob is packed constants with offsets from their begin.
type blob struct {
	data   []byte
	packed kernel.Packed
}

func keyOf(k *kernel.Kernel) packKey {
	key := packKey{weights: k.Weights}
	if k.Weights != nil {
		key.depth = k.Block.D
	}
	if k.Table != nil {
		key.table = &k.Table[0]
	}
	return key
}

func (p *packer) blob(k *kernel.Kernel) (*blob, error) {
	key := keyOf(k)
	if b := p.blobs[key]; b != nil {
		return b, nil
	}
	var c layout.Constants
	if k.Weights != nil {
		c.Data = make([]byte, 0, k.Weights.Room()+len(k.Table))
	}
	b := &blob{}
	var err error
	if b.packed, err = k.Pack(p.spec, &c); err != nil {
		return nil, err
	}
	b.data = c.Data
	p.blobs[key] = b
	return b, nil
}

// pack gives jobs their constants behind those of a list; jobs of one kernel share them.
func (p *packer) pack(prog *Program, jobs []job, consts []byte) error {
	size := len(consts)
	blobs := make([]*blob, len(jobs))
	for i := range jobs {
		k := &jobs[i].Kernel
		if k.Weights == nil && k.Table == nil {
			continue
		}
		var err error
		if blobs[i], err = p.blob(k); err != nil {
			return fmt.Errorf("operation %d: %w", jobs[i].Op, err)
		}
		size += layout.Align(len(blobs[i].data)) + layout.Alignment
	}
	c := layout.Constants{Data: append(make([]byte, 0, size), consts...)}
	first := map[*blob]int{}
	for i, b := range blobs {
		j := &jobs[i]
		j.first = i
		if b == nil {
			continue
		}
		if k, ok := first[b]; ok {
			j.first, j.packed, j.weights = k, jobs[k].packed, jobs[k].weights
			continue
		}
		first[b] = i
		j.packed = b.packed.At(c.Add(b.data))
		j.weights = j.packed.Fetch
		prog.EncodedWeights += j.packed.WeightBytes[0] + j.packed.WeightBytes[1]
	}
	c.Pad()
	prog.Consts = c.Data
	return nil
}
