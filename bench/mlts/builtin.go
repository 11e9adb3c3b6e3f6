package mlts

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/nn"
)

// source is a model that needs no files. The expected outputs of its test set are computed by the reference.
type source interface {
	network() (*nn.Model, error)
	testSet(net *nn.Model) (*TestSet, error)
}

// builtin are the models of AOSP's lists by their names there, with synthetic weights and
// inputs.
var builtin = []struct{ name, network string }{
	{"tts_float", "tts_float"},
	{"asr_float", "asr_float"},
	{"mobilenet_v1_1.0_224_topk_aosp", "mobilenet_v1_1.0_224_float"},
	{"mobilenet_v1_1.0_224_quant_topk_aosp", "mobilenet_v1_1.0_224_quant"},
	{"mobilenet_v1_0.75_192_topk_aosp", "mobilenet_v1_0.75_192_float"},
	{"mobilenet_v1_0.75_192_quant_topk_aosp", "mobilenet_v1_0.75_192_quant"},
	{"mobilenet_v1_0.5_160_topk_aosp", "mobilenet_v1_0.5_160_float"},
	{"mobilenet_v1_0.5_160_quant_topk_aosp", "mobilenet_v1_0.5_160_quant"},
	{"mobilenet_v1_0.25_128_topk_aosp", "mobilenet_v1_0.25_128_float"},
	{"mobilenet_v1_0.25_128_quant_topk_aosp", "mobilenet_v1_0.25_128_quant"},
	{"mobilenet_v2_0.35_128_topk_aosp", "mobilenet_v2_0.35_128_float"},
	{"mobilenet_v2_0.5_160_topk_aosp", "mobilenet_v2_0.5_160_float"},
	{"mobilenet_v2_0.75_192_topk_aosp", "mobilenet_v2_0.75_192_float"},
	{"mobilenet_v2_1.0_224_topk_aosp", "mobilenet_v2_1.0_224_float"},
	{"mobilenet_v2_1.0_224_quant_topk_aosp", "mobilenet_v2_1.0_224_quant"},
}

// Short are the built-in models that run without a choice: one of each group, the
// smallest.
var Short = []string{
	"tts_float", "asr_float", "mobilenet_v1_0.25_128_topk_aosp", "mobilenet_v1_0.25_128_quant_topk_aosp",
	"mobilenet_v2_0.35_128_topk_aosp", "mobilenet_v2_1.0_224_quant_topk_aosp",
}

// Builtin lists the built-in models.
func Builtin() *List {
	l := &List{}
	for _, b := range builtin {
		l.Models = append(l.Models, fromZoo(b.name, b.network))
	}
	return l
}

// Named lists models by name: built-in ones, or networks of the zoo that have the inputs
// of such: a picture, or the features of speech.
func Named(names []string) (*List, error) {
	l := &List{}
	for _, name := range names {
		i := slices.IndexFunc(builtin, func(b struct{ name, network string }) bool { return b.name == name })
		switch _, ok := zoo.Find(name); {
		case i >= 0:
			l.Models = append(l.Models, fromZoo(name, builtin[i].network))
		case ok:
			l.Models = append(l.Models, fromZoo(name, name))
		default:
			return nil, fmt.Errorf("no model is called %q; similar networks: %s", name, strings.Join(zoo.Similar(name, 4), ", "))
		}
	}
	return l, nil
}

func fromZoo(name, network string) Model {
	m := Model{Name: name, TestName: name, ModelFile: network, source: &synthetic{network}}
	switch speech, _, _ := strings.Cut(network, "_"); speech {
	case "tts":
		m.Evaluator = &EvaluatorConfig{ClassName: "MelCepLogF0"}
	case "asr":
		m.Evaluator = &EvaluatorConfig{ClassName: "PhoneErrorRate"}
	default:
		m.Evaluator = &EvaluatorConfig{ClassName: "TopK", ExpectedTop1: 1} // by the reference's results
	}
	return m
}

// synthetic is a network of the zoo with synthetic inputs.
type synthetic struct{ name string }

func (s *synthetic) network() (*nn.Model, error) {
	m, err := zoo.Build(s.name)
	if err != nil {
		return nil, err
	}
	m.Name = s.name
	feedBack(m)
	return m, nil
}

// feedBack declares the states of a network whose outputs NAME_out belong to inputs NAME.
func feedBack(m *nn.Model) {
	for o, x := range m.Main.Outputs {
		name, isState := strings.CutSuffix(m.Main.Operands[x].Name, "_out")
		if !isState {
			continue
		}
		for i, y := range m.Main.Inputs {
			if m.Main.Operands[y].Name == name {
				m.States = append(m.States, nn.State{Input: i, Output: o})
			}
		}
	}
}

// Sizes of the synthetic test sets.
const (
	syntheticImages    = 8
	syntheticSequences = 2
	syntheticSteps     = 8 // of a sequence
)

func (s *synthetic) testSet(net *nn.Model) (*TestSet, error) {
	o, err := inputOf(net)
	if err != nil {
		return nil, err
	}
	d := o.Dimensions
	isPicture := len(d) == 4 && d[0] == 1 && d[1] == d[2] && d[3] == 3
	t := &TestSet{}
	count, steps := syntheticSequences, syntheticSteps
	if isPicture {
		count, steps = syntheticImages, 1
	}
	for range count {
		t.lengths = append(t.lengths, steps)
		t.Steps += steps
	}
	t.sequence = func(i int) (list []Input, err error) {
		for k := range t.lengths[i] {
			x := Input{Class: -1}
			if isPicture {
				x.Data, err = encodePixels(pattern(i, int(d[1])), o.Type, preprocessors["MobilenetV1"])
			} else {
				x.Data, err = features(i, k, o)
			}
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	}
	return t, nil
}

// pattern is a picture of waves, another for each i, with three colours out of step.
func pattern(i, side int) []float64 {
	out := make([]float64, 0, 3*side*side)
	fx, fy := 2*math.Pi*float64(1+i), 2*math.Pi*float64(1+i*i%5)
	for y := range side {
		for x := range side {
			for c := range 3 {
				phase := fx*float64(x)/float64(side) + fy*float64(y)/float64(side) + float64(c*i)
				out = append(out, math.Round(127.5+127.5*math.Sin(phase)))
			}
		}
	}
	return out
}

// features makes up the values of step k of a sequence: each oscillates at its own rate.
func features(i, k int, o *nn.Operand) ([]byte, error) {
	if o.Type != nn.TensorFloat32 {
		return nil, fmt.Errorf("no synthetic inputs of %v%v", o.Type, o.Dimensions)
	}
	var out []byte
	for j := range o.Elements() {
		v := math.Sin(float64(k)*0.3*(1+float64(j%7)) + float64(j)*0.7 + float64(i))
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	}
	return out, nil
}
