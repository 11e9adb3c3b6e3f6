package inference_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/importer/vela/velatest"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// copyPayload copies 128 bytes in the arena from 0 to 128.
func copyPayload(t testing.TB, accelerator string) []byte {
	return copies(t, accelerator, transfer{1, 0, 1, 128, 128})
}

// transfer is a copy: region and address of source and destination, and its bytes.
type transfer struct {
	from       int
	src        uint64
	to         int
	dst, bytes uint64
}

// copies is a payload with copies, one after the other.
func copies(t testing.TB, accelerator string, list ...transfer) []byte {
	config := require.V(ethosu.ParseConfig(accelerator))(t)
	b := ethosu.NewBuilder(config.Product)
	for _, c := range list {
		b.Set(ethosu.SetDMA0SrcRegion, c.from)
		b.Set(ethosu.SetDMA0DstRegion, c.to)
		b.SetAddr(ethosu.SetDMA0Src, c.src)
		b.SetAddr(ethosu.SetDMA0Dst, c.dst)
		b.SetAddr(ethosu.SetDMA0Len, c.bytes)
		b.Op(ethosu.OpDMAStart, 0)
		b.Op(ethosu.OpDMAWait, 0)
	}
	b.Op(ethosu.OpStop, 0xFFFF)
	words := require.V(b.Words())(t)
	p := ethosu.Payload{Release: ethosu.DefaultRelease, ID: ethosu.DefaultID, Config: config, Commands: words}
	payload := require.V(p.Append(nil))(t)
	return payload
}

func machine(t testing.TB, name string, changes ...soc.Change) *inference.Machine {
	c := require.V(soc.LoadChanged(name, changes...))(t)
	m := require.V(inference.NewMachine(c, hal.FastSingleAnswer))(t)
	return m
}

var update = flag.Bool("update", false, "write the file of the commands' tests again")

// TestMixedFile holds the file that the command's tests and the README run.
func TestMixedFile(t *testing.T) {
	path := filepath.Join("..", "..", "cmd", "nnsoc", "testdata", "mixed_vela.tflite")
	want := velatest.Mixed(copyPayload(t, "ethos-u55-128")).Bytes()
	if *update {
		require.NoError(t, os.WriteFile(path, want, 0o644))
	}
	got := require.File(t, path)
	require.Check(t, bytes.Equal(got, want), "the file is not what velatest writes: go test ./bench/inference -run TestMixedFile -update")
}

// Tensors pass from the CPU to the NPU and back; times of both add up, and the
// second run is like the first.
func TestMixed(t *testing.T) {
	n := require.V(vela.Read(velatest.Mixed(copyPayload(t, "ethos-u55-128")).Bytes()))(t)
	if c, err := inference.Accelerator(n); err != nil || c.String() != "ethos-u55-128" {
		t.Fatal(c, err)
	}
	s := require.V(inference.New(n, machine(t, "ethos-u55-128")))(t)
	in, relu, relu6 := make([]byte, 128), make([]byte, 128), make([]byte, 128)
	for i := range in {
		v := int8(2*i - 128)
		in[i], relu[i], relu6[i] = byte(v), byte(max(v, -4)), byte(min(max(v, -4), 56)) // 0 is -4, 6 is 56
	}
	for range 2 {
		r := require.V(s.Run([][]byte{in}, inference.Options{}))(t)
		require.Check(t, bytes.Equal(r.Outputs[0], relu6) && bytes.Equal(r.Outputs[1], relu), "outputs %v", r.Outputs)
		if len(r.Operations) != 3 || !r.Operations[0].CPU || r.Operations[1].NPU.Name != "dma" || !r.Operations[2].CPU {
			t.Errorf("operations %+v", r.Operations)
		}
		if r.CPUTimeFs <= 0 || r.NPUTimeFs <= 0 || r.CPUTimeFs+r.NPUTimeFs != r.TimeFs {
			t.Errorf("CPU %d, NPU %d, all %d", r.CPUTimeFs, r.NPUTimeFs, r.TimeFs)
		}
		checkCycles(t, r)
		if p := r.Ports[0]; p.Memory != "sram" || p.ReadBeats != 16 || p.WriteBeats != 16 {
			t.Errorf("ports %+v", r.Ports)
		}
		f, err := s.Run([][]byte{in}, inference.Options{Functional: true})
		if err != nil || !bytes.Equal(f.Outputs[0], relu6) || f.Cycles != 0 || f.NPUTimeFs != 0 {
			t.Errorf("functional: %v, %d cycles, %v", err, f.Cycles, f.Outputs)
		}
	}
	require.ErrorContains(t, require.Err(s.Run(nil, inference.Options{})), "0 inputs, the network has 1")
	require.ErrorContains(t, require.Err(s.Run([][]byte{in[:1]}, inference.Options{})), "input 0 has 1 bytes, want 128")
	require.ErrorContains(t, require.Err(s.Run([][]byte{in}, inference.Options{MaxWork: 127})), "the run exceeds its limit of work")
}

// TestConstants: a stream may write to its constants, which does not change the file; a timing-only run moves nothing.
func TestConstants(t *testing.T) {
	const name = "ethos-u55-128"
	data := velatest.Mixed(copies(t, name, transfer{1, 0, 0, 0, 16}, transfer{0, 0, 1, 128, 16})).Bytes()
	file := bytes.Clone(data)
	n := require.V(vela.Read(data))(t)
	s := require.V(inference.New(n, machine(t, name)))(t)
	in := bytes.Repeat([]byte{20}, 128)
	for _, only := range []bool{true, false} {
		r := require.V(s.Run([][]byte{in}, inference.Options{TimingOnly: only}))(t)
		want := make([]byte, 128)
		if !only {
			copy(want, in[:16])
		}
		require.Check(t, bytes.Equal(r.Outputs[1], want), "only timed %v: %v", only, r.Outputs[1])
	}
	require.Check(t, bytes.Equal(data, file), "the stream wrote into the file")
}

// checkCycles: reasons add up to the cycles, operations to the active ones; a stream that starts nothing costs commands
// alone.
func checkCycles(t *testing.T, r *inference.Result) {
	t.Helper()
	active, started := int64(0), false
	for i := range r.Operations {
		o := &r.Operations[i]
		if o.CPU {
			continue
		}
		active, started = active+o.Cycles, true
		require.Check(t, o.Stalls.Total() == o.Cycles, "operation %d: %v do not add up to %d", i, o.Stalls, o.Cycles)
	}
	if !started {
		active = r.Stalls[sim.StallFetch]
	}
	if active != r.ActiveCycles || r.Stalls.Total() != r.Cycles || r.Cycles != r.ActiveCycles+r.Stalls[sim.StallLaunch] {
		t.Errorf("operations take %d cycles, active %d, all %d, reasons %v", active, r.ActiveCycles, r.Cycles, r.Stalls)
	}
}

// A network runs on the configuration it was compiled for, and on no other.
func TestWrongMachine(t *testing.T) {
	for _, compiled := range ethosu.Accelerators() {
		n := require.V(vela.Read(velatest.Mixed(copyPayload(t, compiled)).Bytes()))(t)
		for _, name := range append(ethosu.Accelerators(), "pixel4") {
			_, err := inference.New(n, machine(t, name))
			if (compiled == name) != (err == nil) || err != nil && !strings.Contains(err.Error(), "compiled for") {
				t.Errorf("compiled for %s, on %s: %v", compiled, name, err)
			}
		}
	}
	n := require.V(vela.Read(velatest.Mixed([]byte("COP1")).Bytes()))(t)
	require.ErrorContains(t, require.Err(inference.Accelerator(n)), "lacks a configuration")
}

// Networks that Vela compiled compute the recorded bytes, by the file alone.
func TestOracleNetworks(t *testing.T) {
	oracle.Need(t)
	files := shared.Glob(t, "ethosu", "networks", "*", "*", "*_vela.tflite")
	for _, path := range files {
		folder := filepath.Dir(filepath.Dir(path))
		t.Run(filepath.Base(folder)+"/"+filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			data := require.File(t, path)
			in := require.File(t, shared.Path(t, "models", filepath.Base(folder), "case1.in0.bin"))
			want := require.File(t, filepath.Join(folder, "double.case1.out0.bin"))
			n := require.V(vela.Read(data))(t)
			c := require.V(inference.Accelerator(n))(t)
			s := require.V(inference.New(n, machine(t, c.String())))(t)
			r := require.V(s.Run([][]byte{in}, inference.Options{}))(t)
			require.Check(t, bytes.Equal(r.Outputs[0], want), "output differs")
			checkCycles(t, r)
		})
	}
}

// FuzzSession: a file with any payload runs within its memory and limit, or
// ends in an error.
func FuzzSession(f *testing.F) {
	const name = "ethos-u65-256"
	p := copyPayload(f, name)
	f.Add(p)
	for i := 0; i < len(p); i += 5 {
		b := append([]byte(nil), p...)
		b[i] ^= 0x11
		f.Add(b)
	}
	m := machine(f, name)
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) == 0 {
			return
		}
		n := require.V(vela.Read(velatest.Mixed(payload).Bytes()))(t)
		s, err := inference.New(n, m)
		if err != nil {
			return
		}
		r, err := s.Run([][]byte{make([]byte, 128)}, inference.Options{MaxWork: 1 << 20})
		if err == nil {
			checkCycles(t, r)
		}
	})
}
