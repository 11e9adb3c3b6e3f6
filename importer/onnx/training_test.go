package onnx_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// trained appends a node of training with so many outputs.
func (n *network) trained(op string, in []string, outputs int, attributes ...*onnxfile.Attribute) []string {
	y := n.add(op, in, attributes...)
	node := n.graph.Nodes[len(n.graph.Nodes)-1]
	node.Domain = "ai.onnx.preview.training"
	for k := 1; k < outputs; k++ {
		node.Outputs = append(node.Outputs, fmt.Sprint(y, " ", k))
	}
	for _, name := range node.Outputs {
		n.out(name)
	}
	return node.Outputs
}

// verdictOf are results as those of a judge.
func verdictOf(results map[string][]float64, order []string, dims ...uint32) (v verdict) {
	for _, name := range order {
		v.Outputs = append(v.Outputs, runtimeTensor{Name: name, Type: "float32", Dims: dims, Raw: rawElements(onnxfile.Float, results[name])})
	}
	return v
}

// step is a step of an optimizer for one weight: the new weight and moments.
type step func(rate, steps, weight, gradient float64, moments []float64) []float64

var optimizers = []struct {
	name       string
	moments    int
	attributes []*onnxfile.Attribute
	step       step
}{
	{"Adagrad", 1, []*onnxfile.Attribute{attribute("norm_coefficient", 0.125), attribute("decay_factor", 0.25), attribute("epsilon", 0.0625)}, func(r, t, x, g float64, m []float64) []float64 {
		g += 0.125 * x
		h := m[0] + g*g
		return []float64{x - r/(1+0.25*t)*g/(math.Sqrt(h)+0.0625), h}
	}},
	{"Adam", 2, []*onnxfile.Attribute{attribute("norm_coefficient_post", 0.25)}, func(r, t, x, g float64, m []float64) []float64 {
		alpha, beta := float64(float32(0.9)), float64(float32(0.999))
		v, h := alpha*m[0]+(1-alpha)*g, beta*m[1]+(1-beta)*g*g
		if t > 0 {
			r *= math.Sqrt(1-math.Pow(beta, t)) / (1 - math.Pow(alpha, t))
		}
		return []float64{0.75 * (x - r*v/(math.Sqrt(h)+1e-6)), v, h}
	}},
	{"Momentum", 1, []*onnxfile.Attribute{attribute("alpha", 0.5), attribute("beta", 0.25), attribute("norm_coefficient", 0.5), attribute("mode", "nesterov")}, func(r, t, x, g float64, m []float64) []float64 {
		g, beta := g+0.5*x, 1.0
		if t > 0 {
			beta = 0.25
		}
		v := 0.5*m[0] + beta*g
		return []float64{x - r*(g+0.5*v), v}
	}},
}

// TestOptimizers holds steps of two tensors of weights against their definition, whose count is an input.
func TestOptimizers(t *testing.T) {
	for _, o := range optimizers {
		for _, count := range []float64{0, 1, 3, 2000} {
			n := newNetwork(5)
			n.opset = 15
			in := []string{n.given(onnxfile.Float, nil, 0.75), n.given(onnxfile.Int64, nil, count)}
			for range 2 * (2 + o.moments) {
				in = append(in, n.in(onnxfile.Float, 4))
			}
			list := func(k int) []float64 { return n.inputs[2+k].data }
			for k := 4; k < len(in)-2; k++ { // moments, which are no less than 0
				for i, v := range list(k) {
					list(k)[i] = math.Abs(v)
				}
			}
			outputs := n.trained(o.name, in, 2*(1+o.moments), o.attributes...)
			want := map[string][]float64{}
			for w := range 2 {
				for i := range 4 {
					var moments []float64
					for m := range o.moments {
						moments = append(moments, list(2*(2+m) + w)[i])
					}
					for k, v := range o.step(0.75, count, list(w)[i], list(2 + w)[i], moments) {
						want[outputs[2*k+w]] = append(want[outputs[2*k+w]], v)
					}
				}
			}
			err := n.subject().against(verdictOf(want, outputs, 4))
			require.Check(t, err == nil, "%s after %v steps: %v", o.name, count, err)
		}
	}
}

// TestBatchNormTraining holds statistics of batches of images, sequences and lists, and those that move with them.
func TestBatchNormTraining(t *testing.T) {
	for _, dims := range [][]int64{{3, 2, 4, 5}, {3, 2, 4}, {6, 2}} {
		n := newNetwork(6)
		n.opset = 15
		x := n.in(onnxfile.Float, dims...)
		y := n.add("BatchNormalization", []string{x, n.pos(2), n.pos(2), n.pos(2), n.pos(2)}, attribute("training_mode", 1), attribute("epsilon", 0.01), attribute("momentum", 0.75))
		node := n.graph.Nodes[len(n.graph.Nodes)-1]
		node.Outputs = append(node.Outputs, "mean", "variance")
		inner := int(elements(dims[2:]))
		data := n.inputs[0].data
		normed, means, variances := make([]float64, len(data)), []float64{}, []float64{}
		for c := range 2 {
			var places []int
			for i := range data {
				if i/inner%2 == c {
					places = append(places, i)
				}
			}
			mean, variance, parameter := 0.0, 0.0, float64(c+1)/4
			for _, i := range places {
				mean += data[i] / float64(len(places))
			}
			for _, i := range places {
				variance += (data[i] - mean) * (data[i] - mean) / float64(len(places))
			}
			for _, i := range places {
				normed[i] = (data[i]-mean)/math.Sqrt(variance+0.01)*parameter + parameter
			}
			means, variances = append(means, 0.75*parameter+0.25*mean), append(variances, 0.75*parameter+0.25*variance)
		}
		for _, name := range node.Outputs {
			n.out(name)
		}
		want := verdictOf(map[string][]float64{"mean": means, "variance": variances}, []string{"mean", "variance"}, 2)
		want.Outputs = slices.Insert(want.Outputs, 0, runtimeTensor{Name: y, Type: "float32", Dims: unsigned(dims), Raw: rawElements(onnxfile.Float, normed)})
		err := n.subject().against(want)
		require.Check(t, err == nil, "%v: %v", dims, err)
	}
}

// TestTrainingRefusals: lists of other lengths, and what NNAPI does not draw or derive.
func TestTrainingRefusals(t *testing.T) {
	for want, draw := range map[string]func(n *network, r, s, x string){
		"7 inputs and 3 outputs, each tensor of weights has a gradient and 2 moments": func(n *network, r, s, x string) {
			n.trained("Adam", []string{r, s, x, x, x, x, x}, 3)
		},
		"an average with the share 1,": func(n *network, r, s, x string) {
			n.trained("Adam", []string{r, s, x, x, x, x}, 3, attribute("alpha", 1.0))
		},
		"attribute \"alpha\" is missing":                            func(n *network, r, s, x string) { n.trained("Momentum", []string{r, s, x, x, x}, 2) },
		"differentiates nodes of the network; instead: the network": func(n *network, _, _, x string) { n.trained("Gradient", []string{x}, 1) },
		"drops elements at random; instead: training_mode false": func(n *network, _, _, x string) {
			n.out(n.add("Dropout", []string{x, n.scalar(0.5), n.whole(onnxfile.Bool, 1)}))
		},
		"an execution decides whether it is in training mode, where it drops elements at random; instead: a constant training_mode": func(n *network, _, _, x string) {
			n.out(n.add("Dropout", []string{x, n.scalar(0.5), n.given(onnxfile.Bool, nil, 0)}))
		},
		"as versions before 14 did in training": func(n *network, _, _, x string) {
			p := n.pos(2)
			n.trained("BatchNormalization", []string{x, p, p, p, p}, 5)
			n.graph.Nodes[0].Domain = ""
		},
	} {
		n := newNetwork(7)
		n.opset = 13
		draw(n, n.given(onnxfile.Float, nil, 1), n.given(onnxfile.Int64, nil, 1), n.in(onnxfile.Float, 3, 2))
		_, err := onnx.Import(n.bytes(), nil)
		require.ErrorContains(t, err, want)
	}
}
