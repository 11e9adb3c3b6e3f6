package onnx

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// pattern are n distinct small numbers.
func pattern(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(i*37%23-11) / 8
	}
	return list
}

// near holds a result against the right values.
func near(t *testing.T, what string, want, got []float64) {
	t.Helper()
	require.Check(t, len(want) == len(got), "%s: %d elements, want %d", what, len(got), len(want))
	for i := range want {
		require.Check(t, math.Abs(got[i]-want[i]) <= 1e-5*(1+math.Abs(want[i])), "%s: element %d is %v, want %v", what, i, got[i], want[i])
	}
}

// one is the result of a network of one node of operator set 24.
func one(t *testing.T, n *onnxfile.Node, inputs []*onnxfile.Value, data ...[]float32) []float64 {
	t.Helper()
	g := &onnxfile.Graph{Inputs: inputs, Outputs: []*onnxfile.Value{value32(n.Outputs[0])}, Nodes: []*onnxfile.Node{n}}
	m := require.V(importFile(model(g, 24), nil))(t)
	var in [][]byte
	for _, list := range data {
		in = append(in, floats32(list...))
	}
	return numbers(nn.TensorFloat32, require.V(execute(m, in))(t)[0])
}

// inDomain is a node of ONNX Runtime's domain.
func inDomain(n *onnxfile.Node) *onnxfile.Node {
	n.Domain = microsoft
	return n
}

// TestAttention compares grouped, causal attention with the definition.
func TestAttention(t *testing.T) {
	const heads, shared, length, size = 4, 2, 3, 2
	q, k, v := pattern(heads*length*size), pattern(shared*length*size), pattern(shared*length*size)
	for i := range v {
		v[i] += float32(i)
	}
	var want []float64
	for h := range heads {
		s := h / (heads / shared)
		for i := range length {
			share, sum := make([]float64, i+1), 0.0
			for j := range share {
				dot := 0.0
				for e := range size {
					dot += float64(q[(h*length+i)*size+e]) * float64(k[(s*length+j)*size+e])
				}
				share[j] = math.Exp(dot / math.Sqrt(size))
				sum += share[j]
			}
			for e := range size {
				y := 0.0
				for j := range share {
					y += share[j] / sum * float64(v[(s*length+j)*size+e])
				}
				want = append(want, y)
			}
		}
	}
	got := one(t, node("Attention", []string{"q", "k", "v"}, []string{"y"}, intAttribute("is_causal", 1)),
		[]*onnxfile.Value{value32("q", 1, heads, length, size), value32("k", 1, shared, length, size), value32("v", 1, shared, length, size)}, q, k, v)
	near(t, "Attention", want, got)
}

// TestAttentionOfThePast compares causal attention with a past, a bound of the scores, a mask that is too short and the
// outputs on the way with the definition; and keys of which only some count.
func TestAttentionOfThePast(t *testing.T) {
	const batches, heads, length, before, size = 2, 2, 3, 2, 2
	const keys = before + length
	q, k, v := pattern(batches*heads*length*size), pattern(2 * batches * heads * length * size)[batches*heads*length*size:], pattern(3 * batches * heads * length * size)[2*batches*heads*length*size:]
	pastK, pastV, mask := pattern(batches*heads*before*size), pattern(batches * heads * before * size * 2)[batches*heads*before*size:], pattern(length*(keys-1))
	all := func(past, now []float32, bh, j, e int) float64 {
		if j < before {
			return float64(past[(bh*before+j)*size+e])
		}
		return float64(now[(bh*length+j-before)*size+e])
	}
	const softcap, scale = 1.5, 0.75
	steps := [4][]float64{}
	var want []float64
	for bh := range batches * heads {
		for i := range length {
			row, sum := make([]float64, keys), 0.0
			for j := range row {
				dot := 0.0
				for e := range size {
					dot += float64(q[(bh*length+i)*size+e]) * all(pastK, k, bh, j, e)
				}
				dot *= scale
				steps[0] = append(steps[0], dot)
				dot = softcap * math.Tanh(dot/softcap)
				steps[1] = append(steps[1], dot)
				if j == keys-1 || j > i+before { // behind the mask's end, behind the query
					row[j] = math.Inf(-1)
				} else {
					row[j] = dot + float64(mask[i*(keys-1)+j])
				}
				steps[2] = append(steps[2], row[j])
				sum += math.Exp(row[j])
			}
			for _, r := range row {
				steps[3] = append(steps[3], math.Exp(r)/sum)
			}
			for e := range size {
				y := 0.0
				for j, r := range row {
					y += math.Exp(r) / sum * all(pastV, v, bh, j, e)
				}
				want = append(want, y)
			}
		}
	}
	for mode := range int64(4) {
		n := node("Attention", []string{"q", "k", "v", "m", "pk", "pv"}, []string{"y", "", "", "s"}, intAttribute("is_causal", 1), intAttribute("qk_matmul_output_mode", mode),
			&onnxfile.Attribute{Name: "softcap", Type: onnxfile.AttributeFloat, Float: softcap}, &onnxfile.Attribute{Name: "scale", Type: onnxfile.AttributeFloat, Float: scale})
		now, past := []int64{batches, heads, length, size}, []int64{batches, heads, before, size}
		g := &onnxfile.Graph{Outputs: []*onnxfile.Value{value32("y"), value32("s")}, Nodes: []*onnxfile.Node{n},
			Inputs: []*onnxfile.Value{value32("q", now...), value32("k", now...), value32("v", now...), value32("m", length, keys-1), value32("pk", past...), value32("pv", past...)}}
		m := require.V(importFile(model(g, 24), nil))(t)
		out := require.V(execute(m, [][]byte{floats32(q...), floats32(k...), floats32(v...), floats32(mask...), floats32(pastK...), floats32(pastV...)}))(t)
		near(t, "Attention", want, numbers(nn.TensorFloat32, out[0]))
		got := numbers(nn.TensorFloat32, out[1])
		for i, w := range steps[mode] {
			require.Check(t, got[i] == w || math.Abs(got[i]-w) < 1e-5, "mode %d: score %d is %v, want %v", mode, i, got[i], w)
		}
	}

	counts := []int32{2, 3}
	for _, causal := range []int64{0, 1} {
		want = nil
		for bh := range batches * heads {
			count := int(counts[bh/heads])
			for i := range 2 {
				row, sum := make([]float64, length), 0.0
				for j := range row {
					dot := 0.0
					for e := range size {
						dot += float64(q[(bh*2+i)*size+e]) * float64(k[(bh*length+j)*size+e])
					}
					if row[j] = math.Exp(dot / math.Sqrt(size)); j >= count || causal == 1 && j > i+count-2 {
						row[j] = 0
					}
					sum += row[j]
				}
				for e := range size {
					y := 0.0
					for j, r := range row {
						y += r / sum * float64(v[(bh*length+j)*size+e])
					}
					want = append(want, y)
				}
			}
		}
		now := []int64{batches, heads, length, size}
		g := &onnxfile.Graph{Outputs: []*onnxfile.Value{value32("y")}, Nodes: []*onnxfile.Node{node("Attention", []string{"q", "k", "v", "", "", "", "n"}, []string{"y"}, intAttribute("is_causal", causal))},
			Inputs: []*onnxfile.Value{value32("q", batches, heads, 2, size), value32("k", now...), value32("v", now...), typed(onnxfile.Int64, "n", batches)}}
		m := require.V(importFile(model(g, 24), nil))(t)
		near(t, "Attention of counted keys", want, numbers(nn.TensorFloat32, require.V(execute(m, [][]byte{floats32(q[:batches*heads*2*size]...), floats32(k...), floats32(v...), ints(counts...)}))(t)[0]))
	}
}

// TestRMSNormalization divides by the root of the mean square.
func TestRMSNormalization(t *testing.T) {
	x, scale := pattern(8), pattern(4)
	var want []float64
	for i := range x {
		sum := 0.0
		for _, v := range x[i/4*4 : i/4*4+4] {
			sum += float64(v) * float64(v)
		}
		want = append(want, float64(x[i])/math.Sqrt(sum/4+1e-5)*float64(scale[i%4]))
	}
	got := one(t, node("RMSNormalization", []string{"x", "s"}, []string{"y"}), []*onnxfile.Value{value32("x", 2, 4), value32("s", 4)}, x, scale)
	near(t, "RMSNormalization", want, got)
}

// TestRotaryEmbedding turns the first four of six elements, in halves and interleaved.
func TestRotaryEmbedding(t *testing.T) {
	const length, size, half = 2, 6, 2
	x, cos, sin := pattern(length*size), pattern(length*half), pattern(2 * length * half)[length*half:]
	for interleaved := range int64(2) {
		want := make([]float64, len(x))
		for i := range x {
			want[i] = float64(x[i])
		}
		for l := range length {
			for p := range half {
				a, b := p, p+half
				if interleaved == 1 {
					a, b = 2*p, 2*p+1
				}
				u, w, c, s := float64(x[l*size+a]), float64(x[l*size+b]), float64(cos[l*half+p]), float64(sin[l*half+p])
				want[l*size+a], want[l*size+b] = u*c-w*s, u*s+w*c
			}
		}
		got := one(t, node("RotaryEmbedding", []string{"x", "c", "s"}, []string{"y"}, intAttribute("interleaved", interleaved), intAttribute("rotary_embedding_dim", 4)),
			[]*onnxfile.Value{value32("x", 1, 1, length, size), value32("c", 1, length, half), value32("s", 1, length, half)}, x, cos, sin)
		near(t, "RotaryEmbedding", want, got)
	}
}

// TestFusedOperators compares ONNX Runtime's fused operators with what they contain.
func TestFusedOperators(t *testing.T) {
	x, w := pattern(4), pattern(8)
	product := func(transposed bool) (want []float64) {
		for r := range 2 {
			for c := range 4 {
				b := [2]float32{w[c], w[4+c]}
				if transposed {
					b = [2]float32{w[2*c], w[2*c+1]}
				}
				want = append(want, float64(x[2*r])*float64(b[0])+float64(x[2*r+1])*float64(b[1]))
			}
		}
		return want
	}
	want := product(true)
	for i := range want {
		want[i] *= 0.5
	}
	alpha := &onnxfile.Attribute{Name: "alpha", Type: onnxfile.AttributeFloat, Float: 0.5}
	got := one(t, inDomain(node("FusedMatMul", []string{"x", "w"}, []string{"y"}, intAttribute("transB", 1), alpha)),
		[]*onnxfile.Value{value32("x", 2, 2), value32("w", 4, 2)}, x, w)
	near(t, "FusedMatMul", want, got)

	want = product(false)
	for i := range want {
		want[i] = math.Max(want[i], 0.25*want[i])
	}
	slope := &onnxfile.Attribute{Name: "activation_alpha", Type: onnxfile.AttributeFloat, Float: 0.25}
	kind := &onnxfile.Attribute{Name: "activation", Type: onnxfile.AttributeString, String: "LeakyRelu"}
	got = one(t, inDomain(node("FusedGemm", []string{"x", "w"}, []string{"y"}, kind, slope)), []*onnxfile.Value{value32("x", 2, 2), value32("w", 2, 4)}, x, w)
	near(t, "FusedGemm", want, got)

	z := pattern(8)
	got = one(t, inDomain(node("BiasGelu", []string{"x", "b"}, []string{"y"})), []*onnxfile.Value{value32("x", 2, 2), value32("b", 2)}, x, w[:2])
	want = nil
	for i, v := range x {
		y := float64(v) + float64(w[i%2])
		want = append(want, y/2*(1+math.Erf(y/math.Sqrt2)))
	}
	near(t, "BiasGelu", want, got)

	got = one(t, inDomain(node("SkipSimplifiedLayerNormalization", []string{"x", "z", "g"}, []string{"y"})), []*onnxfile.Value{value32("x", 2, 2), value32("z", 2, 2), value32("g", 2)}, x, z[:4], w[:2])
	want = nil
	for i := range x {
		a, b := float64(x[i&^1])+float64(z[i&^1]), float64(x[i|1])+float64(z[i|1])
		want = append(want, (float64(x[i])+float64(z[i]))/math.Sqrt((a*a+b*b)/2+1e-12)*float64(w[i%2]))
	}
	near(t, "SkipSimplifiedLayerNormalization", want, got)
}

// TestGates compares x times a sigmoid and GELU's approximation with the definitions.
func TestGates(t *testing.T) {
	x, b := pattern(8), pattern(4)
	real := func(name string, v float32) *onnxfile.Attribute {
		return &onnxfile.Attribute{Name: name, Type: onnxfile.AttributeFloat, Float: v}
	}
	sigmoid := func(alpha float64) func(int) float64 {
		return func(i int) float64 { v := float64(x[i]); return v / (1 + math.Exp(-alpha*v)) }
	}
	gelu := func(bias bool) func(int) float64 {
		return func(i int) float64 {
			v := float64(x[i])
			if bias {
				v += float64(b[i%4])
			}
			return v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
		}
	}
	for _, c := range []struct {
		n    *onnxfile.Node
		want func(i int) float64
	}{
		{node("Swish", []string{"x"}, []string{"y"}), sigmoid(1)},
		{node("Swish", []string{"x"}, []string{"y"}, real("alpha", 0.5)), sigmoid(0.5)},
		{inDomain(node("QuickGelu", []string{"x"}, []string{"y"})), sigmoid(1.702)},
		{inDomain(node("QuickGelu", []string{"x"}, []string{"y"}, real("alpha", 2))), sigmoid(2)},
		{inDomain(node("FastGelu", []string{"x"}, []string{"y"})), gelu(false)},
		{inDomain(node("FastGelu", []string{"x", "b"}, []string{"y"})), gelu(true)},
	} {
		want := make([]float64, len(x))
		for i := range want {
			want[i] = c.want(i)
		}
		inputs, data := []*onnxfile.Value{value32("x", 2, 4)}, [][]float32{x}
		if len(c.n.Inputs) == 2 {
			inputs, data = append(inputs, value32("b", 4)), append(data, b)
		}
		near(t, c.n.Op, want, one(t, c.n, inputs, data...))
	}
}

// TestSkippedNormalization compares normalizations of rows, and of a sum with what skipped layers and a bias.
func TestSkippedNormalization(t *testing.T) {
	const rows, size = 3, 4
	x, skip, gamma, beta, bias := pattern(rows*size), pattern(2 * rows * size)[rows*size:], pattern(size), pattern(2 * size)[size:], pattern(3 * size)[2*size:]
	right := func(sum bool) (want []float64) {
		for r := range rows {
			row := make([]float64, size)
			mean, square := 0.0, 0.0
			for i := range row {
				row[i] = float64(x[r*size+i])
				if sum {
					row[i] += float64(skip[r*size+i]) + float64(bias[i])
				}
				mean += row[i] / size
			}
			if !sum {
				mean = 0
			}
			for i := range row {
				row[i] -= mean
				square += row[i] * row[i] / size
			}
			for i := range row {
				y := row[i] / math.Sqrt(square+1e-3) * float64(gamma[i])
				if sum {
					y += float64(beta[i])
				}
				want = append(want, y)
			}
		}
		return want
	}
	epsilon := &onnxfile.Attribute{Name: "epsilon", Type: onnxfile.AttributeFloat, Float: 1e-3}
	got := one(t, inDomain(node("SkipLayerNormalization", []string{"x", "k", "g", "b", "c"}, []string{"y"}, epsilon)),
		[]*onnxfile.Value{value32("x", 1, rows, size), value32("k", 1, rows, size), value32("g", size), value32("b", size), value32("c", size)}, x, skip, gamma, beta, bias)
	near(t, "SkipLayerNormalization", right(true), got)
	for _, where := range []string{"", microsoft} {
		n := node("SimplifiedLayerNormalization", []string{"x", "g"}, []string{"y"}, epsilon)
		n.Domain = where
		near(t, n.Op, right(false), one(t, n, []*onnxfile.Value{value32("x", 1, rows, size), value32("g", size)}, x, gamma))
	}
}

// TestMultiHeadAttention compares attention with biases of the projections and of the scores with the definition.
func TestMultiHeadAttention(t *testing.T) {
	const heads, length, keys, size, width = 2, 3, 4, 2, 4
	q, k, v, bias, scores := pattern(length*width), pattern(2 * keys * width)[keys*width:], pattern(3 * keys * width)[2*keys*width:], pattern(3*width), pattern(heads*length*keys)
	at := func(list []float32, part, l, h, e int) float64 {
		return float64(list[l*width+h*size+e]) + float64(bias[part*width+h*size+e])
	}
	want := make([]float64, length*width)
	for h := range heads {
		for i := range length {
			share, sum := make([]float64, keys), 0.0
			for j := range share {
				dot := 0.0
				for e := range size {
					dot += at(q, 0, i, h, e) * at(k, 1, j, h, e)
				}
				share[j] = math.Exp(dot/math.Sqrt(size) + float64(scores[(h*length+i)*keys+j]))
				sum += share[j]
			}
			for e := range size {
				for j := range share {
					want[i*width+h*size+e] += share[j] / sum * at(v, 2, j, h, e)
				}
			}
		}
	}
	got := one(t, inDomain(node("MultiHeadAttention", []string{"q", "k", "v", "b", "", "s"}, []string{"y"}, intAttribute("num_heads", heads))),
		[]*onnxfile.Value{value32("q", 1, length, width), value32("k", 1, keys, width), value32("v", 1, keys, width), value32("b", 3*width), value32("s", 1, heads, length, keys)}, q, k, v, bias, scores)
	near(t, "MultiHeadAttention", want, got)
}

// TestFirstNamedDimension takes an open batch as 1 and says so; another open dimension is an error.
func TestFirstNamedDimension(t *testing.T) {
	x := &onnxfile.Value{Name: "x", Type: onnxfile.Float, Dims: []onnxfile.Dim{{Name: "batch"}, {Size: 3}}}
	g := &onnxfile.Graph{Inputs: []*onnxfile.Value{x}, Outputs: []*onnxfile.Value{value32("y")}, Nodes: []*onnxfile.Node{node("Abs", []string{"x"}, []string{"y"})}}
	var notes []string
	m := require.V(importFile(model(g, 17), &Options{Note: func(text string) { notes = append(notes, text) }}))(t)
	require.Equal(t, []uint32{1, 3}, m.Main.Operands[m.Main.Inputs[0]].Dimensions)
	require.Equal(t, []string{`input "x": dimension 0 is "batch", taken as 1; --shape x=... gives another`}, notes)
	x.Dims[1] = onnxfile.Dim{Name: "length"}
	_, err := importFile(model(g, 17), nil)
	require.ErrorContains(t, err, `dimension 1 is "length", which the file leaves open`)
}

// TestGroupedRefusals: GroupQueryAttention is read where all keys count, and says what it lacks elsewhere.
func TestGroupedRefusals(t *testing.T) {
	queries := value32("q", 2, 3, 32)
	one := func(counts, total *onnxfile.Tensor, attributes ...*onnxfile.Attribute) error {
		in := []string{"q", "q", "q", "", "", "counts", "total"}
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{queries}, Outputs: []*onnxfile.Value{value32("y")}}
		for _, w := range []*onnxfile.Tensor{counts, total} {
			if w.Int32s == nil {
				g.Inputs = append(g.Inputs, &onnxfile.Value{Name: w.Name, Type: onnxfile.Int32, Dims: []onnxfile.Dim{{Size: w.Dims[0]}}})
			} else {
				g.Initializers = append(g.Initializers, w)
			}
		}
		g.Nodes = []*onnxfile.Node{inDomain(node("GroupQueryAttention", in, []string{"y"}, append(attributes, intAttribute("num_heads", 2), intAttribute("kv_num_heads", 2))...))}
		return require.Err(importFile(model(g, 24), nil))
	}
	tensor := func(name string, n int64, list ...int32) *onnxfile.Tensor {
		return &onnxfile.Tensor{Name: name, Type: onnxfile.Int32, Dims: []int64{n}, Int32s: list}
	}
	all, total := tensor("counts", 2, 2, 2), tensor("total", 1, 3)
	require.NoError(t, one(all, total))
	require.ErrorContains(t, one(all, tensor("total", 1)), "known only during execution (total_sequence_length); a constant of 3 would do")
	require.ErrorContains(t, one(all, tensor("total", 1, 8)), "total_sequence_length is 8, its inputs have 3 keys")
	require.ErrorContains(t, one(tensor("counts", 2), total), "how many keys of each of its 2 batches count is known only during execution (seqlens_k)")
	require.ErrorContains(t, one(tensor("counts", 2, 2, 1), total), "seqlens_k is [2 1], 2 in each batch would do")
	require.ErrorContains(t, one(all, total, intAttribute("smooth_softmax", 1)), "its shares have a sink")
	require.ErrorContains(t, one(all, total, intAttribute("do_rotary", 1)), "do_rotary without cos_cache and sin_cache")
}
