package mlts

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// of are steps of one sequence each.
func of(steps ...step) (list [][]step) {
	for _, s := range steps {
		list = append(list, []step{s})
	}
	return list
}

func TestTopK(t *testing.T) {
	v := []float64{9, 1, 8, 2, 7, 3, 6} // by size: 0 2 4 6 5 3 1
	values, problems, err := topK{0.5}.evaluate(of(step{actual: v, class: 0}, step{actual: v, class: 4}, step{actual: v, class: 5}, step{actual: v, class: 1}))
	require.NoError(t, err)
	want := []Value{{"top_1", 0.25}, {"top_2", 0.25}, {"top_3", 0.5}, {"top_4", 0.5}, {"top_5", 0.75}}
	require.Equal(t, want, values)
	require.Check(t, len(problems) == 1 && strings.Contains(problems[0], "0.25"), "problems %q, want one: 0.25 is below 0.5", problems)
	if _, problems, _ := (topK{0.3}).evaluate(of(step{actual: v, class: 0}, step{actual: v, class: 1}, step{actual: v, class: 1}, step{actual: v, class: 1})); problems != nil {
		t.Errorf("0.25 is within 0.05 of 0.3: %q", problems)
	}
	if _, _, err := (topK{}).evaluate([][]step{{{actual: v, class: 0}, {actual: v, class: 0}}}); err == nil {
		t.Error("a sequence of two steps was taken")
	}
	if _, _, err := (topK{}).evaluate(of(step{actual: v, class: -1})); err == nil {
		t.Error("an input without a class was taken")
	}
	values, _, err = topK{}.evaluate(of(step{actual: v, class: 99}, step{actual: v, expected: v, class: -1}))
	if err != nil || values[0].Value != 0.5 || values[4].Value != 0.5 {
		t.Errorf("%v, %v: a class beyond the outputs is never found, one without a label is the largest expected output", values, err)
	}
}

// speech is an inference with a voiced first frame.
func speech(amplitude, logF0 float64) []float64 {
	v := make([]float64, framesPerInference*frameValues)
	for j := 1; j < amplitudes; j++ {
		v[j] = amplitude
	}
	v[logF0At], v[voicingAt] = logF0, 1
	v[frameValues+logF0At] = 99 * logF0 // unvoiced
	return v
}

func TestMelCepLogF0(t *testing.T) {
	zero := speech(0, 0)
	loud := speech(0, 0)
	loud[0] = 1000         // the first amplitude does not count
	voiced := speech(0, 0) // where the expected frame is not
	voiced[frameValues+voicingAt], voiced[frameValues+logF0At] = 1, 7
	for _, c := range []struct {
		actual            []float64
		distortion, pitch float64
		problems          int
	}{
		{zero, 0, 0, 0},
		{loud, 0, 0, 0},
		{voiced, 0, 0, 0},
		{speech(8, 0), 4, 0, 0}, // one frame of four: 8 / sqrt(4)
		{speech(8.1, 0), 4.05, 0, 1},
		{speech(0, 0.01), 0, 0.01, 0},
		{speech(8.1, 0.02), 4.05, 0.02, 2},
		{speech(math.NaN(), 0), math.NaN(), 0, 1},
	} {
		values, problems := require.V2(melCepLogF0{}.evaluate([][]step{{{actual: zero, expected: zero}}, {{actual: c.actual, expected: zero}}}))(t)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }
		if len(values) != 2 || values[0].Key != "max_mel_cep_distortion" || values[1].Key != "max_log_f0_error" || !near(values[0].Value, c.distortion) || !near(values[1].Value, c.pitch) || len(problems) != c.problems {
			t.Errorf("%v, problems %q; want %v, %v and %d problems", values, problems, c.distortion, c.pitch, c.problems)
		}
	}
	n := make(normalization, framesPerInference*frameValues)
	for i := range n {
		n[i].deviation = 3
	}
	values, _, err := melCepLogF0{n}.evaluate(of(step{actual: speech(2, 0), expected: zero}))
	require.Check(t, err == nil && math.Abs(values[0].Value-3) <= 1e-9, "%v, %v; a deviation of 3 triples the distortion of 1", values, err)
	for _, bad := range []step{{actual: zero[1:], expected: zero[1:]}, {actual: zero}, {actual: zero, expected: zero[1:]}} {
		if _, _, err := (melCepLogF0{}).evaluate(of(bad)); err == nil {
			t.Errorf("%d and %d values were taken", len(bad.actual), len(bad.expected))
		}
	}
}

func TestPhoneErrorRate(t *testing.T) {
	phone := func(i int) []float64 {
		v := make([]float64, 3)
		v[i] = 1
		return v
	}
	sequence := func(actual, expected string) (list []step) {
		for i := range actual {
			list = append(list, step{actual: phone(int(actual[i] - 'a')), expected: phone(int(expected[i] - 'a'))})
		}
		return list
	}
	values, problems, err := phoneErrorRate{}.evaluate([][]step{sequence("aabc", "aabc"), sequence("abcab", "bcabc")})
	if err != nil || len(values) != 1 || values[0] != (Value{"max_phone_error_rate", 40}) || len(problems) != 1 {
		t.Errorf("%v, %q, %v; want 2 edits of 5 steps", values, problems, err)
	}
	values, _ = require.V2(phoneErrorRate{}.evaluate([][]step{sequence("abcab", "bcabc"), sequence("aabc", "aabc")}))(t)
	require.Same(t, 40, values[0].Value, "the worst sequence, which comes first")
	if _, problems, _ := (phoneErrorRate{}).evaluate([][]step{sequence(strings.Repeat("a", 19)+"b", strings.Repeat("a", 20))}); problems != nil {
		t.Errorf("5 per cent is allowed: %q", problems)
	}
}

func TestNormalization(t *testing.T) {
	var b []byte
	for _, v := range []float32{1, 2, -3, 0.5} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	n := require.V(parseNormalization(b))(t)
	if got, err := n.apply([]float64{10, 10}); err != nil || !slices.Equal(got, []float64{21, 2}) {
		t.Errorf("%v, %v; want v x deviation + mean", got, err)
	}
	require.Fails(t, require.Err(n.apply([]float64{1})), "one value for two pairs was taken")
	for _, bad := range [][]byte{nil, b[:4], b[:15]} {
		require.Fails(t, require.Err(parseNormalization(bad)), len(bad), "bytes were taken")
	}
}
