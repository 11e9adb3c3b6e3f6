package dsp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// The tables testdata/values/scalar.txt and vector.txt hold the results of qemu-hexagon for every form: a row is
//
//	form | state | prelude | words of the packet | packet | register=value ...
//
// and names all differences after the packet, memory as mem+offset from the middle of the scratch memory. A vector
// register is its first four words and a hash of all. "~" depends on the program's address. After a scalar packet there
// are two landing places that count in r23 and r22; a row names them where the count differs. The states before are
// those of scalarState and vectorState. TestOracleRecord records them; this package's tests need no QEMU to compare.
type recordedRow struct {
	form, prelude, packet string
	state                 int
	words                 []uint32
	changes               string
}

func (r *recordedRow) String() string {
	var words []string
	for _, w := range r.words {
		words = append(words, fmt.Sprintf("%08x", w))
	}
	return strings.Join([]string{r.form, strconv.Itoa(r.state), r.prelude, strings.Join(words, " "), r.packet, r.changes}, " | ")
}

func readRecorded(t testing.TB, file string) (rows []recordedRow) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	for n, line := range strings.Split(string(b), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 6 {
			t.Fatalf("%s:%d: %d columns", file, n+1, len(f))
		}
		r := recordedRow{form: f[0], prelude: f[2], packet: f[4], changes: f[5]}
		if r.state, err = strconv.Atoi(f[1]); err != nil {
			t.Fatalf("%s:%d: %v", file, n+1, err)
		}
		for _, w := range strings.Fields(f[3]) {
			v, err := strconv.ParseUint(w, 16, 32)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, n+1, err)
			}
			r.words = append(r.words, uint32(v))
		}
		rows = append(rows, r)
	}
	return rows
}

// image is the state that a program can see, in the order of its names: words, predicates of 16 bytes, vectors of 128.
type image [][]byte

var (
	scalarNames = imageNames("r", 32, "p3:0 usr m0 m1 cs0 cs1 gp ugp sa0 lc0 sa1 lc1", 4)
	vectorNames = append(append(imageNames("v", 32, "q0 q1 q2 q3", scratchSize), imageNames("r", 32, "p3:0 usr m0 m1", scratchSize)...), imageNames("", 0, "", 128)...)
)

// imageNames are numbered registers, some others, and the scratch memory in steps.
func imageNames(letter string, n int, others string, step int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint(letter, i))
	}
	out = append(out, strings.Fields(others)...)
	for i := 0; i < scratchSize && step < scratchSize; i += step {
		out = append(out, fmt.Sprintf("mem%+d", i-scratchSize/2))
	}
	return out
}

// changes lists the differences after a packet from the state after none. after is the image to be listed, here and
// there are images of the core with the program in two places: values that differ between them depend on the place.
func (before image) changes(names []string, after, here, beforeThere, there image) string {
	var out []string
	for i, k := range names {
		same := bytes.Equal(here[i], there[i])
		switch {
		case !same && bytes.Equal(here[i], before[i]) && bytes.Equal(there[i], beforeThere[i]): // the packet has nothing to do with it
		case !same:
			out = append(out, "~"+k)
		case !bytes.Equal(before[i], after[i]):
			out = append(out, k+"="+imageText(after[i]))
		}
	}
	return strings.Join(out, " ")
}

func imageText(b []byte) string {
	switch len(b) {
	case 4:
		return fmt.Sprintf("%08x", binary.LittleEndian.Uint32(b))
	case 16:
		return hex.EncodeToString(b)
	}
	return vectorText(b)
}

func (m *image) words(v ...uint32) {
	b := make([]byte, 0, 4*len(v))
	for i, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
		*m = append(*m, b[4*i:4*i+4])
	}
}

func (m *image) memory(b []byte, step int) {
	b = bytes.Clone(b[:scratchSize])
	for i := 0; i < len(b); i += step {
		*m = append(*m, b[i:i+step])
	}
}

// scalarImage is the image of the scalar registers that a record of QEMU has: not r27 and r28.
func scalarImage(st *Registers, memory []byte) (m image) {
	r := st.R
	r[27], r[28] = 0, 0
	m.words(r[:]...)
	m.words(binary.LittleEndian.Uint32(st.P[:]), st.USR, st.M[0], st.M[1], st.CS[0], st.CS[1], st.GP, st.UGP, st.SA[0], st.LC[0], st.SA[1], st.LC[1])
	m.memory(memory, 4)
	return m
}

// vectorImage is the image of the vector registers and some others: not r28 and r31.
func vectorImage(st *Registers, memory []byte) (m image) {
	for v := range st.V {
		m = append(m, bytes.Clone(st.V[v][:]))
	}
	for q := range st.Q {
		bits := make([]byte, 16)
		for i, b := range st.Q[q] {
			bits[i/8] |= b & 1 << (i % 8)
		}
		m = append(m, bits)
	}
	r := st.R
	r[28], r[31] = 0, 0
	m.words(r[:]...)
	m.words(binary.LittleEndian.Uint32(st.P[:]), st.USR, st.M[0], st.M[1])
	m.memory(memory, 128)
	return m
}

// vectorText is the first four words of 128 bytes and a hash of all.
func vectorText(b []byte) string {
	h := fnv.New32a()
	h.Write(b)
	le := binary.LittleEndian
	return fmt.Sprintf("%08x,%08x,%08x,%08x:%08x", le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:]), h.Sum32())
}

// Seeds of the states of the recorded rows.
const recordSeed, recordVectorStates = 20, 4

// recordedStates are the states that rows name.
type recordedStates struct {
	scalar, scratch    []byte
	vectors, scratches [][]byte
}

var rowStates = sync.OnceValue(func() (s recordedStates) {
	r := rand.New(rand.NewSource(recordSeed))
	for i := range scalarStates {
		s.scalar = append(s.scalar, scalarState(r, i)...)
	}
	s.scratch = make([]byte, scratchSize)
	for i := 0; i < scratchSize; i += 4 {
		binary.LittleEndian.PutUint32(s.scratch[i:], corner(r))
	}
	for range recordVectorStates {
		v, m := vectorState(r)
		s.vectors, s.scratches = append(s.vectors, v), append(s.scratches, m)
	}
	return s
})

// scalarRegisters is a state as the scalar programs begin with it; registers left undefined are filled with x.
func scalarRegisters(state []byte, x uint32) (st Registers) {
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(state[4*i:]) }
	for i := range 24 {
		st.R[i] = word(i)
	}
	for _, i := range []int{21, 25, 26, 29, 30} {
		st.R[i] = scratchBase + 512
	}
	st.R[24], st.R[27], st.R[28], st.R[31] = x, 8, x, x
	binary.LittleEndian.PutUint32(st.P[:], word(32))
	st.USR, st.M, st.CS, st.GP, st.UGP = word(33), [2]uint32{word(34), word(35)}, [2]uint32{word(36), word(37)}, word(38), word(39)
	st.SA, st.LC = [2]uint32{x, x}, [2]uint32{x & 1, x}
	return st
}

// vectorRegisters is a state as the vector programs begin with it.
func vectorRegisters(state []byte, x uint32) (st Registers) {
	for q := range st.Q {
		for i := range st.Q[q] {
			if state[128*q+i] != 0 {
				st.Q[q][i] = 1
			}
		}
	}
	for v := range st.V {
		copy(st.V[v][:], state[512+128*v:])
	}
	words := state[512+4096:]
	for i := range 26 {
		st.R[i] = binary.LittleEndian.Uint32(words[4*i:])
	}
	copy(st.P[:], words[104:108])
	for _, i := range []int{26, 28, 29, 30} {
		st.R[i] = scratchBase + 512
	}
	st.M = [2]uint32{256, ^uint32(127)}
	st.R[27], st.R[31], st.SA, st.LC = 8, x, [2]uint32{x, x}, [2]uint32{x & 1, x}
	return st
}

// run executes a row at an address and returns the image after it.
func (r *recordedRow) run(core *coldCore, vector bool, base uint32) (before, after image, err error) {
	s := rowStates()
	scratch, makeImage, st := s.scratch, scalarImage, Registers{}
	if vector {
		scratch, makeImage = s.scratches[r.state], vectorImage
		st = vectorRegisters(s.vectors[r.state], base^0x5a5a5a5b)
	} else {
		st = scalarRegisters(s.scalar[4*stateWords*r.state:], base^0x5a5a5a5b)
	}
	assemble := func(text string, at uint32) ([]uint32, error) {
		if text == "" {
			return nil, nil
		}
		pk, err := asm.Assemble(strings.ReplaceAll(text, " ;; ", "\n"), at)
		if err != nil {
			return nil, err
		}
		return hexagon.EncodeAll(nil, pk)
	}
	// The landing places are after the packet; their address may lengthen the prelude that loads it.
	la, words := base, []uint32(nil)
	for range 3 {
		if words, err = assemble(strings.ReplaceAll(r.prelude, "LA", fmt.Sprintf("%#x", la)), base); err != nil {
			return nil, nil, err
		}
		la = base + uint32(4*(len(words)+len(r.words)+1))
	}
	words = append(words, r.words...)
	if !vector {
		landing, err := assemble("{ r23 = add(r23,#1) } ;; { r22 = add(r22,#1) }", 0)
		if err != nil {
			return nil, nil, err
		}
		words = append(words, landing...)
	}
	memory := append(append([]byte(nil), scratch...), make([]byte, 4096)...)
	space := new(mem.Space)
	if err := space.Map(mem.Segment{Name: "scratch", Base: scratchBase, Data: memory}); err != nil {
		return nil, nil, err
	}
	landed := st
	if !vector {
		landed.R[22]++
		landed.R[23]++
	}
	before = makeImage(&landed, memory)
	st.PC = base
	p := &Program{Base: base, Code: hexagon.Bytes(words)}
	if _, err := core.RunThread(p, space, &st, base+uint32(len(p.Code)), Options{Functional: true}); err != nil {
		return nil, nil, err
	}
	return before, makeImage(&st, memory), nil
}

// placed runs a row in two places, in the second by the portable functions, and returns its changes; with an image of
// another machine, those of that.
func (r *recordedRow) placed(core *coldCore, vector bool, other image) (string, error) {
	b1, a1, err := r.run(core, vector, codeBase)
	if err != nil {
		return "", err
	}
	portable := *core.Core
	portable.asm = nil
	b2, a2, err := r.run(&coldCore{&portable, core.newMemory}, vector, 3*codeBase)
	if err != nil {
		return "", err
	}
	if other == nil {
		other = a1
	}
	names := scalarNames
	if vector {
		names = vectorNames
	}
	return b1.changes(names, other, a1, b2, a2), nil
}

// TestOverflowForms: a scalar form in which QEMU changes the sticky bit of usr is marked as overflowing.
func TestOverflowForms(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range readRecorded(t, "testdata/values/scalar.txt") {
		seen[r.form] = seen[r.form] || strings.Contains(r.changes, "usr=") && r.prelude == ""
	}
	sets := 0
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op++ {
		f := op.Form()
		overflows := f.Has(hexagon.FlagOvf)
		if !f.IsHVX() && strings.Contains(f.Syntax, ":sat") && !overflows {
			t.Errorf("%s saturates and does not overflow", f.Syntax)
		}
		if seen[f.Name] && !overflows && !f.Has(hexagon.FlagFloat) && !f.Has(hexagon.FlagLoop) && op != hexagon.A2_tfrrcr {
			t.Errorf("%s has changed usr", f.Syntax)
		}
		if overflows && seen[f.Name] {
			sets++
		}
	}
	if sets < 50 {
		t.Errorf("%d forms have changed usr", sets)
	}
}

// TestRecordedValues runs the rows recorded from QEMU. Every form that QEMU supports has rows.
func TestRecordedValues(t *testing.T) {
	core := testCore(t)
	rows := map[string]int{}
	for _, vector := range []bool{false, true} {
		file := map[bool]string{false: "testdata/values/scalar.txt", true: "testdata/values/vector.txt"}[vector]
		for _, r := range readRecorded(t, file) {
			rows[r.form]++
			got, err := r.placed(core, vector, nil)
			if err != nil {
				t.Errorf("%s: %s: %v", r.form, r.packet, err)
			} else if got != r.changes {
				t.Errorf("%s: %s of state %d\n leaves %s\n   want %s", r.form, r.packet, r.state, got, r.changes)
			}
		}
	}
	for _, f := range qemuForms() {
		if rows[f.Name] == 0 {
			t.Errorf("%s has no row in testdata/values", f.Name)
		}
	}
}
