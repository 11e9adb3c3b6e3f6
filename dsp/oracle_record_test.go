package dsp

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
)

var update = flag.Bool("update", false, "record testdata/values again")

// rowsPerForm is how many packets of each form are recorded.
const rowsPerForm = 4

// TestOracleRecord runs the recorded rows in QEMU, which must reproduce them. With -update it draws them anew.
func TestOracleRecord(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	core := testCore(t)
	for _, vector := range []bool{false, true} {
		idle := map[string]int{} // rows of a form that change nothing
		file := map[bool]string{false: "testdata/values/scalar.txt", true: "testdata/values/vector.txt"}[vector]
		var rows []recordedRow
		switch {
		case !*update:
			rows = readRecorded(t, file)
		case vector:
			rows = drawVector(t)
		default:
			rows = drawScalar(t)
		}
		after := recordScalar
		if vector {
			after = recordVector
		}
		var out strings.Builder
		fmt.Fprintf(&out, "# What qemu-hexagon leaves behind packets: see recordedRow. Written by TestOracleRecord with -update.\n")
		for i, image := range after(t, rows) {
			r := &rows[i]
			changes, err := r.placed(core, vector, image)
			if err != nil {
				t.Errorf("%s: %s: %v", r.form, r.packet, err)
				continue
			}
			if *update {
				r.changes = changes
				if changes == "" {
					if idle[r.form]++; idle[r.form] > 1 {
						continue
					}
				}
			}
			if changes != r.changes {
				t.Errorf("%s: %s of state %d: QEMU leaves\n%s, the table has\n%s", r.form, r.packet, r.state, changes, r.changes)
			}
			fmt.Fprintln(&out, r)
		}
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
		}
	}
}

// drawScalar draws packets of each scalar form, with no more company than the form needs.
func drawScalar(t *testing.T) (rows []recordedRow) {
	core := testCore(t)
	g := &packetGen{r: rand.New(rand.NewSource(recordSeed))}
	for i := range hexagon.Forms() {
		if f := &hexagon.Forms()[i]; !f.IsHVX() && notInQEMU(f) == "" {
			g.forms = append(g.forms, f)
		}
	}
	for _, f := range g.forms {
		for n := range rowsPerForm {
			var best scalarBlock
			for range 40 {
				x, ok := g.block(f)
				if !ok {
					t.Fatalf("%s: no legal packet found", f.Name)
				}
				if (f.Op == hexagon.S2_storew_locked || f.Op == hexagon.S4_stored_locked) && len(x.prelude) == 0 {
					continue // whether it stores depends on the packets before
				}
				if best.packet.N == 0 || x.packet.N < best.packet.N || x.packet.N == best.packet.N && len(x.prelude) < len(best.prelude) {
					best = x
				}
			}
			words := require.V(best.packet.Encode(nil))(t)
			r := recordedRow{
				form: f.Name, state: (len(rows)*7 + n) % scalarStates, words: words, packet: strings.Join(strings.Fields(best.packet.Asm()), " "),
				prelude: strings.ReplaceAll(strings.Join(best.prelude, " ;; "), "\n\t", " ;; "),
			}
			// All but the first in a state in which something happens, if there is one.
			for try := 0; n > 0 && try < scalarStates; try++ {
				if changes, err := r.placed(core, false, nil); err != nil || changes != "" {
					break
				}
				r.state = (r.state + 1) % scalarStates
			}
			rows = append(rows, r)
		}
	}
	return append(rows, packetRows(t, "exchange", exchanges, scalarStates)...)
}

// exchanges are packets whose instructions write registers that others read, which needs copies of the old values.
var exchanges = []string{
	"{ r2 = r3 ; r3 = r2 }", "{ m0 = r2 ; r3 = memw(r26++m0) }", "{ m1 = r27 ; memw(r26++m1) = r4 }", "{ p1 = r2 ; r2 = p1 }", "{ r3:2 = r5:4 ; r5:4 = r3:2 }",
	"{ r2 = r3 ; r3 = r4 ; r4 = r2 }", "{ p0 = p1 ; p1 = p0 }", "{ r2 = add(r3,r4) ; r3 = sub(r2,r4) ; r4 = and(r2,r3) }",
	"{ if (p0) r2 = r3 ; p0 = cmp.gt(r3,r4) ; r3 = r2 }", "{ r2 = memw(r26+#8) ; memw(r26+#8) = r2 }",
}

// packetRows are rows of packets in assembly.
func packetRows(t *testing.T, name string, packets []string, states int) (rows []recordedRow) {
	for _, text := range packets {
		pk := require.V(asm.Assemble(text, 0))(t, text)
		words := require.V(hexagon.EncodeAll(nil, pk))(t, text)
		for n := range 2 {
			rows = append(rows, recordedRow{form: name, state: (5*len(rows) + n) % states, words: words, packet: text})
		}
	}
	return rows
}

// drawVector draws packets of each vector form.
func drawVector(t *testing.T) (rows []recordedRow) {
	g := newVectorGen(rand.New(rand.NewSource(recordSeed)))
	for i := range hexagon.Forms() {
		f := &hexagon.Forms()[i]
		if !inVectorOracle(f) {
			continue
		}
		for range rowsPerForm {
			var best hexagon.Packet
			var prelude string
			for range 60 {
				if pre, p, ok := g.block(f); ok && (best.N == 0 || p.N < best.N) {
					best, prelude = p, pre
				}
			}
			if best.N == 0 {
				t.Fatalf("%s: no legal packet found", f.Name)
			}
			words := require.V(best.Encode(nil))(t)
			rows = append(rows, recordedRow{
				form: f.Name, state: len(rows) % recordVectorStates, words: words, packet: strings.Join(strings.Fields(best.Asm()), " "),
				prelude: strings.ReplaceAll(strings.TrimSpace(prelude), "\n", " ;; "),
			})
		}
	}
	return append(rows, packetRows(t, "exchange", []string{
		"{ v0 = v1 ; v1 = v0 }", "{ v1:0 = vcombine(v0,v1) ; v2 = v1 ; v3 = v0 }", "{ q0 = and(q1,q2) ; q1 = or(q0,q2) }",
		"{ v0.w = vadd(v1.w,v2.w) ; v1.w = vsub(v0.w,v2.w) }", "{ v4 = vmem(r26+#0) ; vmem(r26+#0) = v4 }",
	}, recordVectorStates)...)
}

// qemu builds and runs a program with its data in files and returns its output.
func qemu(t *testing.T, program func(state, scratch string) string, state, scratch []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	s, m := filepath.Join(dir, "state.bin"), filepath.Join(dir, "scratch.bin")
	require.NoError(t, os.WriteFile(s, state, 0o644))
	require.NoError(t, os.WriteFile(m, scratch, 0o644))
	exe := buildELF(t, dir, program(s, m))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := require.V(exec.CommandContext(ctx, "qemu-hexagon", exe).Output())(t, "qemu")
	return out
}

// recordScalar runs rows of scalar forms in QEMU.
func recordScalar(t *testing.T, rows []recordedRow) (out []image) {
	states, scratch := rowStates().scalar, rowStates().scratch
	for len(rows) > 0 {
		n := min(len(rows), blocksPerRun)
		var blocks []scalarBlock
		for i := range rows[:n] {
			r := &rows[i]
			x := scalarBlock{words: r.words, state: r.state}
			if r.prelude != "" {
				x.prelude = strings.Split(r.prelude, " ;; ")
			}
			blocks = append(blocks, x)
		}
		b := qemu(t, func(s, m string) string { return scalarProgram(t, blocks, s, m) }, states, scratch)
		for i := range n {
			var st Registers
			rec := b[i*recordBytes : (i+1)*recordBytes]
			word := func(at int) uint32 { return le32(rec[at:]) }
			for r := range 31 {
				st.R[r] = word(4 * r)
			}
			st.R[31] = word(4 * 27)
			copy(st.P[:], rec[recordC:recordC+4])
			st.USR, st.M, st.CS = word(recordC+4), [2]uint32{word(recordC + 8), word(recordC + 12)}, [2]uint32{word(recordC + 16), word(recordC + 20)}
			st.GP, st.UGP, st.SA[0], st.LC[0], st.SA[1], st.LC[1] = word(recordC+24), word(recordC+28), word(recordC+32), word(recordC+36), word(recordC+40), word(recordC+44)
			out = append(out, scalarImage(&st, rec[recordMem:]))
		}
		rows = rows[n:]
	}
	return out
}

// recordVector runs rows of vector forms in QEMU, those of each state together.
func recordVector(t *testing.T, rows []recordedRow) []image {
	out := make([]image, len(rows))
	states, scratches := rowStates().vectors, rowStates().scratches
	for s := range states {
		var h harness
		var at []int
		h.begin()
		for i := range rows {
			if rows[i].state != s {
				continue
			}
			var words []uint32
			if rows[i].prelude != "" {
				words = assembleFlow(t, strings.ReplaceAll(rows[i].prelude, " ;; ", "\n"))
			}
			h.block(append(words, rows[i].words...))
			at = append(at, i)
		}
		b := qemu(t, h.finish, states[s], scratches[s])
		for k, i := range at {
			var st Registers
			d := b[k*perBlock : (k+1)*perBlock]
			for v := range st.V {
				copy(st.V[v][:], d[128*v:])
			}
			for q := range st.Q {
				copy(st.Q[q][:], d[dumpQ+128*q:])
			}
			for r := range 32 {
				st.R[r] = le32(d[dumpR+4*r:])
			}
			copy(st.P[:], d[dumpC:dumpC+4])
			st.USR, st.M = le32(d[dumpC+4:]), [2]uint32{le32(d[dumpC+8:]), le32(d[dumpC+12:])}
			out[i] = vectorImage(&st, d[dumpSize:])
		}
	}
	return out
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
