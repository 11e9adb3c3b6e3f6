package tflite

import (
	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
	"github.com/nnsoc/nnsoc/nn"
)

// Kinds of the vectors that index a sparse dimension.
var sparseVectors = map[int64]string{1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"}

// densify is a sparse constant of the file as a dense operand. NNAPI's DENSIFY
// reads the same description of the format: the traversal order, the map of
// blocks and, per dimension, its size or its segments and indices.
func (g *graph) densify(o nn.Operand, fileBits int, data []byte, s flatbuffer.Table) uint32 {
	g.known(s, o.Name)
	if o.Known() {
		g.Spend(o.Bytes())
	}
	values := o
	bytes := o.Type.ElementBytes()
	if o.Type == nn.TensorQuant8SymmPerChannel { // DENSIFY moves bytes, the scales are restored below
		values.Type, values.Scale, values.Channel = nn.TensorQuant8Symm, 1, nil
	}
	if len(data) == 0 || len(data)%bytes != 0 || !o.Known() || fileBits != 8*bytes {
		g.Failf("the sparse tensor %q of shape %v has %d bytes", o.Name, o.Dimensions, len(data))
	}
	values.Dimensions, values.Lifetime, values.Data = []uint32{uint32(len(data) / bytes)}, nn.ConstantReference, data
	traversal, blocks := s.Vector("traversal_order").Ints(), s.Vector("block_map").Ints()
	in := []uint32{g.Add(values), g.Int32Tensor(traversal...)}
	if len(blocks) > 0 {
		in = append(in, g.Int32Tensor(blocks...))
	} else {
		in = append(in, g.NoValue(nn.TensorInt32))
	}
	var formats, sizes []int64
	var metadata []uint32
	levels := s.Tables("dim_metadata")
	if levels != len(traversal) || levels > 16 {
		g.Failf("the sparse tensor %q has %d levels, %d of them described", o.Name, len(traversal), levels)
	}
	for i := range levels {
		d := s.TableAt("dim_metadata", i)
		formats, sizes = append(formats, d.Int("format")), append(sizes, d.Int("dense_size"))
		metadata = append(metadata, g.sparseIndex(d, "segments"), g.sparseIndex(d, "indices"))
	}
	sparseSizes(sizes, formats, traversal, blocks, o.Dimensions)
	in = append(in, g.Int32Tensor(formats...), g.Int32Tensor(sizes...))
	values.Data = nil
	x := g.Emit(nn.OpDensify, values, append(in, metadata...)...)
	dense := *g.Operand(x)
	if nn.Elements(dense.Dimensions) != nn.Elements(o.Dimensions) || len(dense.Dimensions) != len(o.Dimensions) || !dense.IsConst() {
		g.Failf("the sparse tensor %q expands to %v, its shape is %v", o.Name, dense.Dimensions, o.Dimensions)
	}
	o.Lifetime, o.Data = nn.ConstantCopy, dense.Data
	return g.Add(o)
}

// sparseSizes fills in the sizes of sparse levels, which the file leaves to the
// tensor's shape: that of the dimension, in blocks where it is blocked.
func sparseSizes(sizes, formats, traversal, blocks []int64, shape []uint32) {
	for i, d := range traversal {
		if formats[i] == 0 || d < 0 || d >= int64(len(shape)) {
			continue
		}
		sizes[i] = int64(shape[d])
		for b, mapped := range blocks {
			if mapped != d {
				continue
			}
			for k, level := range traversal {
				if level == int64(len(shape)+b) && sizes[k] > 0 {
					sizes[i] /= sizes[k]
				}
			}
		}
	}
}

// sparseIndex is a vector of segments or indices; a dense dimension has none.
func (g *graph) sparseIndex(d flatbuffer.Table, name string) uint32 {
	kind := d.Int(name + "_type")
	if kind == 0 {
		return g.NoValue(nn.TensorInt32)
	}
	if sparseVectors[kind] == "" {
		g.Failf("sparse tensor: %s of kind %d", name, kind)
	}
	u, ok, err := d.Union(name, schema.Types()[sparseVectors[kind]])
	if err != nil {
		g.Failf("sparse tensor: %v", err)
	}
	v := u.Vector("values")
	if !ok || v.N == 0 {
		return g.NoValue(nn.TensorInt32)
	}
	g.Spend(12 * int64(v.N))
	return g.Int32Tensor(v.Ints()...)
}
