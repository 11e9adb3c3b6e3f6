package pprof

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/nnsoc/nnsoc/internal/require"
)

// record is two operations that run one kernel, and a launch.
func record() *Recorder {
	r := NewRecorder()
	for _, op := range []string{"0 CONV_2D", "1 CONV_2D"} {
		for range 3 { // pieces of half a nanosecond and a third of a picojoule
			r.Add(&Sample{Device: "gpu", Operation: op, Program: "gemm", At: 8, Text: "v_fma_f32 v0, v1, v2, v0", Count: 2,
				Cycles: []Stall{{"issue", 1}, {"operand", 2}}, FsPerCycle: 0.5e6, EnergyPJ: 1.0 / 3, File: "gemm.s", Line: 7})
		}
	}
	r.Add(&Sample{Device: "gpu", Operation: "LAUNCH", At: -1, Text: "LAUNCH", Count: 1, Cycles: []Stall{{"launch", 100}}, FsPerCycle: 0.5e6, EnergyPJ: 50})
	r.Add(&Sample{Device: "gpu", Operation: "0 CONV_2D", Program: "gemm", At: -1, Text: "drain; end", Cycles: []Stall{{"drain", 4}}, FsPerCycle: 0.5e6})
	return r
}

func TestFolded(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Cycles, `gpu;0 CONV_2D;gemm;drain, end;[drain] 4
gpu;0 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[issue] 3
gpu;0 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[operand] 6
gpu;1 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[issue] 3
gpu;1 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[operand] 6
gpu;LAUNCH;[launch] 100
`},
		// 2 ns, then 1.5 and 3 ns twice, then 50: each sum is rounded.
		{Time, `gpu;0 CONV_2D;gemm;drain, end;[drain] 2
gpu;0 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[issue] 2
gpu;0 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[operand] 3
gpu;1 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[issue] 1
gpu;1 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[operand] 3
gpu;LAUNCH;[launch] 50
`},
		{Executions, `gpu;0 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[issue] 6
gpu;1 CONV_2D;gemm;0x0008 v_fma_f32 v0, v1, v2, v0;[issue] 6
gpu;LAUNCH;[launch] 1
`},
	} {
		var b bytes.Buffer
		require.NoError(t, record().WriteFolded(&b, c.v))
		require.Equal(t, c.want, b.String(), c.v)
	}
}

func written(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, record().Write(&b, Energy))
	return b.Bytes()
}

// TestProfile: a profile read by the library of go tool pprof has the stacks, the source and the sums.
func TestProfile(t *testing.T) {
	p := require.V(profile.ParseData(written(t)))(t)
	require.Check(t, p.DefaultSampleType == "energy" && len(p.Sample) == 6, "%d samples, first %s", len(p.Sample), p.DefaultSampleType)
	var got []string
	for _, s := range p.Sample {
		if s.Label["stall"][0] == "operand" {
			l := s.Location[0]
			if l.Line[0].Line != 7 || l.Line[0].Function.Filename != "gemm.s" || l.Address-l.Mapping.Start != 8 || l.Mapping.File != "gpu/gemm" {
				t.Errorf("%+v of %+v", l, l.Mapping)
			}
			got = append(got, strings.Join(frames(s), ";")+" "+s.Label["instruction"][0])
		}
	}
	want := []string{"gpu;0 CONV_2D;gemm v_fma_f32 v0, v1, v2, v0", "gpu;1 CONV_2D;gemm v_fma_f32 v0, v1, v2, v0"}
	require.Equal(t, want, got)
	require.Check(t, bytes.Equal(written(t), written(t)), "two profiles of one run differ")
}

func TestSummarize(t *testing.T) {
	p := require.V(Read(bytes.NewReader(written(t))))(t)
	s := require.V(Summarize(p, Cycles))(t)
	want := &Summary{
		Total:      Costs{122, 61, 52, 13},
		Operations: []Row{{"gpu", "LAUNCH", "", Costs{100, 50, 50, 1}}, {"gpu", "0 CONV_2D", "", Costs{13, 7, 1, 6}}, {"gpu", "1 CONV_2D", "", Costs{9, 4, 1, 6}}},
		Programs:   []Row{{"gpu", "gemm", "", Costs{18, 9, 2, 12}}, {"gpu", "gemm: drain; end", "", Costs{4, 2, 0, 0}}},
		Stalls:     []Row{{"gpu", "launch", "", Costs{100, 50, 50, 1}}, {"gpu", "operand", "", Costs{12, 6, 2, 0}}, {"gpu", "issue", "", Costs{6, 3, 0, 12}}, {"gpu", "drain", "", Costs{4, 2, 0, 0}}},
		Places:     []Row{{"gpu", "gemm+0x8", "v_fma_f32 v0, v1, v2, v0", Costs{18, 9, 2, 12}}},
	}
	require.Equal(t, want, s)
}

// TestReadRefuses: a file of another format, one that is cut short, and a profile of something else.
func TestReadRefuses(t *testing.T) {
	if _, err := Read(strings.NewReader("no profile")); !errors.Is(err, ErrFormat) {
		t.Errorf("text: %v", err)
	}
	b := written(t)
	require.Fails(t, require.Err(Read(bytes.NewReader(b[:len(b)-9]))), "half a profile is read")
	other := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
	require.ErrorContains(t, require.Err(Summarize(other, Cycles)), "cycles", "a profile of a processor")
}

// FuzzRead: no file makes the reader or the summary panic.
func FuzzRead(f *testing.F) {
	f.Add(written(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		_, _ = Summarize(p, Time)
	})
}
