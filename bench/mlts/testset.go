package mlts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// TestSet are the inputs of a model: sequences of steps, between which states are reset.
type TestSet struct {
	Steps     int // of all sequences
	lengths   []int
	sequence  func(i int) ([]Input, error)
	evaluator evaluator // nil: only errors are measured
}

// Input is a step of a sequence.
type Input struct {
	Data     []byte
	Expected [][]byte // by output; nil: not known
	Class    int      // expected; -1: not known
}

// Sequences is the number of sequences.
func (t *TestSet) Sequences() int { return len(t.lengths) }

// testSet opens the test set of a model that has been loaded.
func (l *List) testSet(m *Model, net *nn.Model) (*TestSet, error) {
	var t *TestSet
	var err error
	if m.source == nil {
		err = m.fits(net)
	}
	switch {
	case err != nil:
	case m.source != nil:
		t, err = m.source.testSet(net)
	case m.Dataset != nil:
		t, err = l.images(m, net)
	default:
		t, err = l.sequences(m, net)
	}
	if err != nil {
		return nil, err
	}
	if t.Steps == 0 {
		return nil, errors.New("the test set is empty")
	}
	var n normalization
	if e := m.Evaluator; e != nil && e.OutputMeanStdDev != "" {
		b, err := l.read(e.OutputMeanStdDev)
		if err == nil {
			n, err = parseNormalization(b)
		}
		if err != nil {
			return nil, fmt.Errorf("outputMeanStdDev: %w", err)
		}
	}
	t.evaluator, err = newEvaluator(m.Evaluator, n)
	return t, err
}

// fits compares the list's description of the input with the network.
func (m *Model) fits(net *nn.Model) error {
	o, err := inputOf(net)
	switch {
	case err != nil:
		return err
	case o.Bytes() != int64(m.inputBytes()) || o.Type.ElementBytes() != m.DataSize:
		return fmt.Errorf("inputSize %v of %d bytes each, the network takes %v%v", m.InputSize, m.DataSize, o.Type, o.Dimensions)
	}
	return nil
}

// inputOf is the one input of a network that is no state.
func inputOf(net *nn.Model) (*nn.Operand, error) {
	given := nnrt.NonStateInputs(net)
	if len(given) != 1 {
		return nil, fmt.Errorf("the network has %d inputs, want 1 besides states", len(given))
	}
	return &net.Main.Operands[net.Main.Inputs[given[0]]], nil
}

// outputsOf are the outputs of a network that are no states.
func outputsOf(net *nn.Model) (list []*nn.Operand) {
	for _, i := range nnrt.Results(net) {
		list = append(list, &net.Main.Operands[net.Main.Outputs[i]])
	}
	return list
}

// sequences reads the sequences that inputOutputs lists.
func (l *List) sequences(m *Model, net *nn.Model) (*TestSet, error) {
	t := &TestSet{}
	size := int64(m.inputBytes())
	for i := range m.InputOutputs {
		x := &m.InputOutputs[i]
		bytes, err := l.size(x.Input)
		if err != nil {
			return nil, err
		}
		if bytes == 0 || bytes%size != 0 || bytes/size > maxSteps {
			return nil, fmt.Errorf("%s: %d bytes, want a multiple of the %d of an input", x.Input, bytes, size)
		}
		t.lengths = append(t.lengths, int(bytes/size))
		t.Steps += int(bytes / size)
	}
	t.sequence = func(i int) ([]Input, error) { return l.readSequence(&m.InputOutputs[i], t.lengths[i], net) }
	return t, nil
}

// readSequence reads a sequence of n steps, and cuts the files of the outputs into as many.
func (l *List) readSequence(x *InputOutput, n int, net *nn.Model) ([]Input, error) {
	in, err := l.read(x.Input)
	if err != nil {
		return nil, err
	}
	list := make([]Input, n)
	for k := range list {
		size := len(in) / n
		list[k] = Input{Data: in[k*size : (k+1)*size], Class: -1}
	}
	outputs, files := outputsOf(net), x.Files()
	if len(files) > len(outputs) {
		return nil, fmt.Errorf("%s: %d files of outputs, the network has %d", x.Input, len(files), len(outputs))
	}
	for i, name := range files {
		b, err := l.read(name)
		if err != nil {
			return nil, err
		}
		if want := int64(n) * outputs[i].Bytes(); outputs[i].Known() && int64(len(b)) != want {
			return nil, fmt.Errorf("%s: %d bytes, %d steps of %v%v have %d", name, len(b), n, outputs[i].Type, outputs[i].Dimensions, want)
		}
		for k := range list {
			size := len(b) / n
			list[k].Expected = append(list[k].Expected, b[k*size:(k+1)*size])
		}
	}
	return list, nil
}

// numbers are the values of an output as the app compares them: floats, or the codes of
// quantized values.
func numbers(o *nn.Operand, b []byte) ([]float64, error) {
	var list []float64
	switch o.Type {
	case nn.TensorFloat32:
		for ; len(b) >= 4; b = b[4:] {
			list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	case nn.TensorQuant8Asymm:
		for _, x := range b {
			list = append(list, float64(x))
		}
	case nn.TensorQuant8AsymmSigned:
		for _, x := range b {
			list = append(list, float64(int8(x)))
		}
	case nn.TensorInt32:
		for ; len(b) >= 4; b = b[4:] {
			list = append(list, float64(int32(binary.LittleEndian.Uint32(b))))
		}
	default:
		return nil, fmt.Errorf("an output of type %v cannot be compared", o.Type)
	}
	return list, nil
}

// differences adds the errors of an output: the mean square, and the largest difference
// with its sign, at least 0.
func differences(actual, expected []float64) (meanSquare, largest float64, err error) {
	if len(actual) != len(expected) {
		return 0, 0, fmt.Errorf("%d values, %d are expected", len(actual), len(expected))
	}
	for i, x := range actual {
		d := x - expected[i]
		meanSquare += d * d
		if d > largest || math.IsNaN(d) {
			largest = d
		}
	}
	return meanSquare / float64(max(len(actual), 1)), largest, nil
}
