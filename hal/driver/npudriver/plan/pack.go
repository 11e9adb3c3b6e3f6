package plan

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/npu"
)

// packer packs the constants of kernels, those of each weights, table and block depth once for all
// programs that a plan compares, and chooses the blocks of equal kernels once.
type packer struct {
	spec   *npu.Spec
	blobs  map[packKey]*blob
	blocks map[blockKey]kernel.Block
	kernel kernel.Packer
	data   []byte // of the kernel that was packed last
}

func newPacker(s *npu.Spec) *packer {
	return &packer{spec: s, blobs: map[packKey]*blob{}, blocks: map[blockKey]kernel.Block{}}
}

// blockKey is what the block of a kernel depends on.
type blockKey struct {
	kernel  kernel.Key
	weights *kernel.Weights
	direct  bool
	wanted  string
	stored  [2]bool // inputs that are constants
}

// block is the block for a kernel.
func (p *packer) block(k *kernel.Kernel) kernel.Block {
	key := blockKey{k.Key(), k.Weights, k.Direct, k.Wanted, [2]bool{k.IFM.Value == layout.Placed, k.IFM2 != nil && k.IFM2.Value == layout.Placed}}
	key.kernel.Block = kernel.Block{}
	for _, f := range [...]*layout.FeatureMap{&key.kernel.IFM, &key.kernel.IFM2, &key.kernel.OFM} {
		f.Addr, f.Row = 0, 0
	}
	b, ok := p.blocks[key]
	if !ok {
		b = cost.ChooseBlock(p.spec, k)
		p.blocks[key] = b
	}
	return b
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
	c := layout.Constants{Data: p.data[:0]}
	if k.Weights != nil {
		c.Data = slices.Grow(c.Data, k.Weights.PackedBytes()+len(k.Table))
	}
	b := &blob{}
	var err error
	if b.packed, err = p.kernel.Pack(p.spec, k, &c); err != nil {
		return nil, err
	}
	p.data, b.data = c.Data, slices.Clone(c.Data)
	p.blobs[key] = b
	return b, nil
}

// pack gives jobs places for their constants behind so many bytes of a list; jobs of one kernel share them.
func (p *packer) pack(jobs []job, end int) error {
	first := map[*blob]int{}
	for i := range jobs {
		j := &jobs[i]
		j.first = i
		if j.Kernel.Weights == nil && j.Kernel.Table == nil {
			continue
		}
		b, err := p.blob(&j.Kernel)
		if err != nil {
			return fmt.Errorf("operation %d: %w", j.Op, err)
		}
		if k, ok := first[b]; ok {
			j.first, j.packed, j.weights = k, jobs[k].packed, jobs[k].weights
			continue
		}
		first[b] = i
		j.constants = b.data
		at := layout.Align(end)
		j.packed = b.packed.At(at)
		j.weights = j.packed.Fetch
		end = at + len(b.data)
	}
	return nil
}

// constants are the constants of a list, followed by those of its jobs.
func (p *Program) constants(own []byte, jobs []job) {
	size := len(own)
	for i := range jobs {
		size = layout.Align(size) + len(jobs[i].constants)
	}
	c := layout.Constants{Data: append(make([]byte, 0, layout.Align(size)), own...)}
	for i := range jobs {
		if j := &jobs[i]; j.constants != nil {
			c.Add(j.constants)
			p.EncodedWeights += j.packed.WeightBytes[0] + j.packed.WeightBytes[1]
		}
	}
	c.Pad()
	p.Consts = c.Data
}
