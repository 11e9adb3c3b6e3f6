package refcpu

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareDensify is DENSIFY.
func prepareDensify(v opspec.View, op *nn.Operation) (kern, error) {
	d, err := v.Densify(op)
	if err != nil {
		return nil, err
	}
	size := d.Type.ElementBytes()
	fill := make([]byte, size)
	switch o := &v.Operands[d.Values]; d.Type {
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		fill[0] = byte(o.ZeroPoint)
	case nn.TensorQuant16Asymm:
		binary.LittleEndian.PutUint16(fill, uint16(o.ZeroPoint))
	}
	return func(x *run) error {
		s := sparseTree{size: size, values: x.bytes(d.Values), out: x.bytes(d.Output), levels: make([]sparseLevel, len(d.Levels))}
		for i, l := range d.Levels {
			s.levels[i] = sparseLevel{DensifyLevel: l}
			if l.Sparse {
				s.levels[i].segments, s.levels[i].indices = x.int32s(l.Segments), x.int32s(l.Indices)
			}
		}
		if err := s.check(); err != nil {
			return err
		}
		for i := 0; i < len(s.out); i += size {
			copy(s.out[i:], fill)
		}
		s.walk(0, 0, 0)
		return nil
	}, nil
}

// sparseTree writes the leaves of a DENSIFY's tree to their places.
type sparseTree struct {
	size        int // bytes of an element
	values, out []byte
	levels      []sparseLevel
}

type sparseLevel struct {
	opspec.DensifyLevel
	segments, indices []int32 // of a sparse level
}

// check counts the nodes of each level, so that the walk reads nothing outside
// the lists and takes no longer than they are.
func (s *sparseTree) check() error {
	nodes := int64(1)
	for i := range s.levels {
		l := &s.levels[i]
		if !l.Sparse {
			if nodes *= int64(l.Size); nodes > nn.MaxElements {
				return fmt.Errorf("level %d: %d nodes are too many", i, nodes)
			}
			continue
		}
		if int64(len(l.segments)) != nodes+1 || l.segments[0] != 0 || int64(l.segments[nodes]) != int64(len(l.indices)) {
			return fmt.Errorf("level %d: %d segment bounds for %d nodes and %d indices", i, len(l.segments), nodes, len(l.indices))
		}
		for k := range nodes {
			if l.segments[k] > l.segments[k+1] {
				return fmt.Errorf("level %d: segment %d begins at %d and ends at %d", i, k, l.segments[k], l.segments[k+1])
			}
		}
		for k, x := range l.indices {
			if x < 0 || int(x) >= l.Size {
				return fmt.Errorf("level %d: index %d is %d, there are %d", i, k, x, l.Size)
			}
		}
		nodes = int64(len(l.indices))
	}
	if n := int64(len(s.values) / s.size); nodes != n {
		return fmt.Errorf("%d values for %d places", n, nodes)
	}
	return nil
}

// walk visits a node, which lies at element at of the result.
func (s *sparseTree) walk(level, node, at int) {
	if level == len(s.levels) {
		copy(s.out[at*s.size:(at+1)*s.size], s.values[node*s.size:])
		return
	}
	l := &s.levels[level]
	if !l.Sparse {
		for i := range l.Size {
			s.walk(level+1, node*l.Size+i, at+i*l.Stride)
		}
		return
	}
	for i := int(l.segments[node]); i < int(l.segments[node+1]); i++ {
		s.walk(level+1, i, at+int(l.indices[i])*l.Stride)
	}
}
