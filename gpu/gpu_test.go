package gpu

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// flat is a memory with a fixed latency that serves one access after the other at a fixed bandwidth.
type flat struct {
	latency sim.Time
	perByte sim.Time
	free    sim.Time
}

func (f *flat) Access(t sim.Time, _ uint64, bytes int, _ mem.Kind) (sim.Time, sim.Reason) {
	t = max(t, f.free)
	f.free = t + f.perByte*sim.Time(bytes)
	return f.free + f.latency, sim.StallDRAM
}

func (f *flat) Reset() { f.free = 0 }

// assemble translates lines of assembly; "name:" defines a label, which a
// branch names as its operand.
func assemble(t testing.TB, wave64 bool, text string) []byte {
	t.Helper()
	labels := map[string]int{}
	var lines []string
	var code []byte
	for pass := range 2 {
		code = code[:0]
		if pass == 0 {
			for _, l := range strings.Split(text, "\n") {
				l, _, _ = strings.Cut(l, "//")
				if l = strings.TrimSpace(l); l != "" {
					lines = append(lines, l)
				}
			}
		}
		for _, l := range lines {
			if name, ok := strings.CutSuffix(l, ":"); ok {
				labels[name] = len(code)
				continue
			}
			s := l
			target := -1
			if strings.HasPrefix(s, "s_branch") || strings.HasPrefix(s, "s_cbranch") {
				op, name, _ := strings.Cut(s, " ")
				s = op + " 0"
				target = labels[strings.TrimSpace(name)]
			}
			in, err := rdna2.Assemble(s, wave64)
			require.NoError(t, err, l)
			if target >= 0 {
				in.Simm16 = uint16(int16((target - len(code) - 4) / 4))
			}
			if code, err = in.Encode(code); err != nil {
				t.Fatalf("%s: %v", l, err)
			}
		}
	}
	return code
}

// testCore is a core with its own memory, cold at the beginning of every run.
type testCore struct {
	*Core
	memory *flat
	state  *State
}

func (c *testCore) Run(s *mem.Space, d []Dispatch, o Options) (*sim.Report, error) {
	c.memory.Reset()
	c.state.Reset()
	o.State = c.state
	return c.Core.Run(s, d, o)
}

func newCore(t testing.TB, edit func(*Spec)) *testCore {
	t.Helper()
	s := DefaultSpec()
	if edit != nil {
		edit(&s)
	}
	c := require.V(New(s))(t)
	m := &flat{latency: 100 * sim.Nanosecond, perByte: 33 * sim.Picosecond}
	state := require.V(c.NewState(m))(t)
	return &testCore{c, m, state}
}

const dataBase = 0x10000

// space has n bytes at dataBase.
func space(t testing.TB, n int) (*mem.Space, []byte) {
	t.Helper()
	s := &mem.Space{}
	b := make([]byte, n)
	require.NoError(t, s.Map(mem.Segment{Name: "data", Base: dataBase, Data: b}))
	return s, b
}

func args(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func word(b []byte, i int) uint32         { return binary.LittleEndian.Uint32(b[4*i:]) }
func setWord(b []byte, i int, v uint32)   { binary.LittleEndian.PutUint32(b[4*i:], v) }
func setFloat(b []byte, i int, v float32) { setWord(b, i, math.Float32bits(v)) }

// Each work-item computes y = a*x + y on its element.
const saxpy = `
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	s_load_dwordx2 s[8:9], s[0:1], 0x10
	v_lshl_add_u32 v0, s2, 8, v0
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_u32 vcc_lo, s9, v0
	s_and_saveexec_b32 s10, vcc_lo
	s_cbranch_execz end
	global_load_dword v2, v1, s[4:5]
	global_load_dword v3, v1, s[6:7]
	s_waitcnt vmcnt(0)
	v_fmac_f32 v3, s8, v2
	global_store_dword v1, v3, s[6:7]
end:
	s_endpgm`

func TestSaxpy(t *testing.T) {
	const n = 1000
	k := &Kernel{Name: "saxpy", Code: assemble(t, false, saxpy), WaveSize: 32, VGPRs: 4}
	c := newCore(t, nil)
	var want []byte
	for _, functional := range []bool{true, false} {
		s, b := space(t, 8*n)
		for i := range n {
			setFloat(b, i, float32(i)*0.5)
			setFloat(b, n+i, float32(i)+1)
		}
		d := Dispatch{Kernel: k, Grid: [3]int{n}, Workgroup: [3]int{256}, Region: 7,
			Kernarg: args(dataBase, dataBase+4*n, uint64(math.Float32bits(2))|n<<32)}
		r := require.V(c.Run(s, []Dispatch{d, d}, Options{Functional: functional}))(t)
		for i := range n {
			if got, w := math.Float32frombits(word(b, n+i)), 2*float32(i)+float32(i)+1; got != w {
				t.Fatalf("element %d is %g, want %g", i, got, w)
			}
		}
		if functional {
			want = b
			continue
		}
		if string(want) != string(b) {
			t.Error("timed and functional bytes differ")
		}
		checkReport(t, r)
		t.Logf("%d cycles, %d instructions, %v, %.0f pJ", r.Cycles, r.Instructions, r.Stalls, r.EnergyPJ)
	}
}

// checkReport checks the promises of every timed report.
func checkReport(t testing.TB, r *sim.Report) {
	t.Helper()
	if r.Stalls.Total() != r.Cycles {
		t.Errorf("stalls add up to %d of %d cycles", r.Stalls.Total(), r.Cycles)
	}
	var cycles int64
	var stalls sim.StallTable
	var pj float64
	for i := range r.Regions {
		g := &r.Regions[i]
		if g.Stalls.Total() != g.Cycles {
			t.Errorf("region %d: stalls add up to %d of %d cycles", g.ID, g.Stalls.Total(), g.Cycles)
		}
		cycles += g.Cycles
		stalls.Add(&g.Stalls)
		pj += g.EnergyPJ
	}
	if cycles != r.Cycles || stalls != r.Stalls {
		t.Errorf("regions have %d of %d cycles", cycles, r.Cycles)
	}
	if !(math.Abs(pj-r.EnergyPJ) <= 1e-9*r.EnergyPJ) || !(r.EnergyPJ > 0) {
		t.Errorf("regions have %g of %g pJ", pj, r.EnergyPJ)
	}
	for i, n := range r.Stalls {
		if n < 0 {
			t.Errorf("%v: %d cycles", sim.Reason(i), n)
		}
	}
}
