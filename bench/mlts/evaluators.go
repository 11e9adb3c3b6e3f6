package mlts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// Value is the result of an evaluator, by its key.
type Value struct {
	Key   string  `json:"key"`
	Value float64 `json:"value"`
}

// step is one inference as an evaluator sees it: the first output.
type step struct {
	actual, expected []float64
	class            int // expected; -1: none
}

// evaluator judges the sequences of a complete pass. values are returned also where the validation fails, as listed in
// problems.
type evaluator interface {
	evaluate(sequences [][]step) (values []Value, problems []string, err error)
}

// normalization are pairs of mean and standard deviation, one for each output value.
type normalization []struct{ mean, deviation float64 }

// parseNormalization reads pairs of little-endian float32.
func parseNormalization(b []byte) (normalization, error) {
	if len(b) == 0 || len(b)%8 != 0 {
		return nil, fmt.Errorf("%d bytes, want pairs of float32", len(b))
	}
	n := make(normalization, len(b)/8)
	for i := range n {
		n[i].mean = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[8*i:])))
		n[i].deviation = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[8*i+4:])))
	}
	return n, nil
}

// apply denormalizes values; a nil normalization leaves them.
func (n normalization) apply(v []float64) ([]float64, error) {
	if n == nil {
		return v, nil
	}
	if len(n) != len(v) {
		return nil, fmt.Errorf("outputMeanStdDev has %d pairs, an output %d values", len(n), len(v))
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x*n[i].deviation + n[i].mean
	}
	return out, nil
}

var evaluators = map[string]func(*EvaluatorConfig, normalization) evaluator{
	"TopK":           func(c *EvaluatorConfig, _ normalization) evaluator { return topK{c.ExpectedTop1} },
	"MelCepLogF0":    func(_ *EvaluatorConfig, n normalization) evaluator { return melCepLogF0{n} },
	"PhoneErrorRate": func(_ *EvaluatorConfig, n normalization) evaluator { return phoneErrorRate{n} },
}

// newEvaluator makes the evaluator of a configuration; nil makes nil.
func newEvaluator(c *EvaluatorConfig, n normalization) (evaluator, error) {
	if c == nil {
		return nil, nil
	}
	name := c.ClassName[strings.LastIndexByte(c.ClassName, '.')+1:] // AOSP's lists have the name of a class
	f := evaluators[name]
	switch {
	case f == nil:
		return nil, fmt.Errorf("evaluator %q, there are %s", c.ClassName, strings.Join(slices.Sorted(maps.Keys(evaluators)), ", "))
	case !(c.ExpectedTop1 >= 0 && c.ExpectedTop1 <= 1):
		return nil, fmt.Errorf("expectedTop1 %v, want 0 to 1", c.ExpectedTop1)
	}
	return f(c, n), nil
}

// topK is the share of inputs whose class is among the k largest outputs.
type topK struct{ expected float64 }

// Of AOSP's evaluator: how many largest outputs it considers, and how far the share of the first may be below the
// expected one.
const (
	topKs        = 5
	topTolerance = 0.05
)

func (e topK) evaluate(sequences [][]step) ([]Value, []string, error) {
	var found [topKs]int
	for i, s := range sequences {
		if len(s) != 1 {
			return nil, nil, fmt.Errorf("TopK: sequence %d has %d steps, want 1", i, len(s))
		}
		class := s[0].class
		if class < 0 {
			class = largest(s[0].expected)
		}
		if class < 0 {
			return nil, nil, fmt.Errorf("TopK: input %d has no expected class", i)
		}
		for k := rank(s[0].actual, class); k >= 0 && k < topKs; k++ {
			found[k]++
		}
	}
	var values []Value
	for k, n := range found {
		values = append(values, Value{fmt.Sprintf("top_%d", k+1), float64(n) / float64(len(sequences))})
	}
	if top := values[0].Value; e.expected > 0 && top < e.expected-topTolerance {
		return values, []string{fmt.Sprintf("Top 1 is %v, below the expected %v by more than %v", float32(top), float32(e.expected), topTolerance)}, nil
	}
	return values, nil, nil
}

// largest is the index of the largest value, the first of equal ones; -1 without any.
func largest(v []float64) int {
	if len(v) == 0 {
		return -1
	}
	best := 0
	for i, x := range v {
		if greater(x, v[best]) {
			best = i
		}
	}
	return best
}

// greater has NaN above all numbers, as Java's comparison of floats.
func greater(a, b float64) bool { return a > b || math.IsNaN(a) && !math.IsNaN(b) }

// rank is how many values precede that of a class; -1: there is no such class.
func rank(v []float64, class int) int {
	if class >= len(v) {
		return -1
	}
	n := 0
	for i, x := range v {
		if greater(x, v[class]) || i < class && !greater(v[class], x) {
			n++
		}
	}
	return n
}

// melCepLogF0 judges synthesized speech: the distortion of the mel cepstrum and the error
// of the logarithm of the fundamental frequency.
type melCepLogF0 struct{ scale normalization }

// Layout of an inference of the text-to-speech model, and AOSP's limits.
const (
	framesPerInference = 4
	amplitudes         = 40
	aperiodicities     = 7
	logF0At            = amplitudes + aperiodicities
	voicingAt          = logF0At + 1
	frameValues        = voicingAt + 1

	melCepLimit = 4.0
	logF0Limit  = 0.01
)

func (e melCepLogF0) evaluate(sequences [][]step) ([]Value, []string, error) {
	var distortion, logF0 float64
	for i, s := range sequences {
		var spectrum, pitch meanSquare
		for k := range s {
			actual, expected, err := denormalized(e.scale, &s[k])
			if err != nil {
				return nil, nil, fmt.Errorf("MelCepLogF0: sequence %d, step %d: %w", i, k, err)
			}
			if len(actual) != framesPerInference*frameValues {
				return nil, nil, fmt.Errorf("MelCepLogF0: sequence %d, step %d: %d values, want %d frames of %d", i, k, len(actual), framesPerInference, frameValues)
			}
			for f := 0; f < len(actual); f += frameValues {
				for j := f + 1; j < f+amplitudes; j++ { // the first is the loudness
					spectrum.add(actual[j] - expected[j])
				}
				if actual[f+voicingAt] > 0 && expected[f+voicingAt] > 0 {
					pitch.add(actual[f+logF0At] - expected[f+logF0At])
				}
			}
		}
		distortion, logF0 = max(distortion, spectrum.root()), max(logF0, pitch.root())
	}
	var problems []string
	if !(distortion <= melCepLimit) {
		problems = append(problems, fmt.Sprintf("Mel-cep distortion exceeded the limit: %v", float32(distortion)))
	}
	if !(logF0 <= logF0Limit) {
		problems = append(problems, fmt.Sprintf("Log F0 error exceeded the limit: %v", float32(logF0)))
	}
	return []Value{{"max_mel_cep_distortion", distortion}, {"max_log_f0_error", logF0}}, problems, nil
}

// meanSquare adds up squares.
type meanSquare struct {
	sum float64
	n   int
}

func (m *meanSquare) add(d float64) {
	m.sum += d * d
	m.n++
}

// root is the root of the mean, 0 of nothing.
func (m *meanSquare) root() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Sqrt(m.sum / float64(m.n))
}

// denormalized are the outputs of a step in their own unit.
func denormalized(n normalization, s *step) (actual, expected []float64, err error) {
	if s.expected == nil {
		return nil, nil, errors.New("no expected output")
	}
	if len(s.actual) != len(s.expected) {
		return nil, nil, fmt.Errorf("%d values, %d are expected", len(s.actual), len(s.expected))
	}
	if actual, err = n.apply(s.actual); err != nil {
		return nil, nil, err
	}
	expected, err = n.apply(s.expected)
	return actual, expected, err
}

// phoneErrorRate is the edit distance of the recognized phones, in per cent of the steps.
type phoneErrorRate struct{ scale normalization }

const phoneErrorLimit = 5.0 // per cent, of AOSP

func (e phoneErrorRate) evaluate(sequences [][]step) ([]Value, []string, error) {
	var rate float64
	for i, s := range sequences {
		var heard, said []int
		for k := range s {
			actual, expected, err := denormalized(e.scale, &s[k])
			if err != nil {
				return nil, nil, fmt.Errorf("PhoneErrorRate: sequence %d, step %d: %w", i, k, err)
			}
			heard, said = append(heard, largest(actual)), append(said, largest(expected))
		}
		if len(s) > 0 {
			rate = max(rate, 100*float64(spelling.Distance(heard, said))/float64(len(s)))
		}
	}
	var problems []string
	if rate > phoneErrorLimit {
		problems = append(problems, fmt.Sprintf("Phone error rate exceeded the limit: %v", float32(rate)))
	}
	return []Value{{"max_phone_error_rate", rate}}, problems, nil
}
