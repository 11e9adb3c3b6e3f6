package dsp

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// The oracle of the vector forms: every form equally often, alone and beside
// random company, against qemu-hexagon.

// perVectorForm is how many packets begin with each form.
const perVectorForm = 32

// qemuForms are the forms of the table that QEMU 7.2 runs.
func qemuForms() (out []hexagon.Form) {
	for _, f := range hexagon.Forms() {
		if notInQEMU(&f) == "" {
			out = append(out, f)
		}
	}
	return out
}

// inVectorOracle reports forms that TestOracleVector draws: all vector forms
// that QEMU knows.
func inVectorOracle(f *hexagon.Form) bool { return f.IsHVX() && notInQEMU(f) == "" }

// elementForm reports vector forms that need prepared operands or company.
func elementForm(f *hexagon.Form) bool {
	return decode.IsScatterGather(f) || f.Class == hexagon.CVI_HIST
}

// vectorGen draws blocks of packets: preparation, then the packet under test.
type vectorGen struct {
	r      *rand.Rand
	forms  []hexagon.Form // company
	few    bool           // over few registers
	skewed bool           // the address register is not aligned to a vector
}

func newVectorGen(r *rand.Rand) *vectorGen {
	g := &vectorGen{r: r}
	for _, f := range qemuForms() {
		if f.Has(hexagon.FlagPred) && f.Has(hexagon.FlagCur|hexagon.FlagTmp) || elementForm(&f) {
			continue
		}
		g.forms = append(g.forms, f)
	}
	return g
}

// inst draws the operands of a form; address registers are those of randomInst.
func (g *vectorGen) inst(f *hexagon.Form) (hexagon.Inst, bool) {
	if !f.IsHVX() {
		return randomPacketInst(g.r, f)
	}
	in := hexagon.Inst{Op: f.Op}
	memory := f.MemBytes > 0 || decode.IsScatterGather(f)
	base := false
	for i := range f.Operands {
		o := &f.Operands[i]
		n := uint8(g.r.Intn(32))
		switch o.Kind {
		case hexagon.KindImm:
			in.Imm[o.Index] = randomImm(g.r, o)
			if memory {
				in.Imm[o.Index] = int32(g.r.Intn(3) - 1)
			}
			continue
		case hexagon.KindMImm:
			in.Imm[o.Index] = int32(n & 1)
			continue
		case hexagon.KindV, hexagon.KindNV:
			if g.few {
				n &= 3
			}
		case hexagon.KindVV:
			if n &^= 1; g.few {
				n &= 3
			}
		case hexagon.KindR:
			if n %= 26; o.Low8 {
				n &= 7
			}
			if memory && !base {
				n, base = 26, true
			}
		case hexagon.KindRR:
			n = n % 26 &^ 1
		case hexagon.KindP, hexagon.KindQ:
			n &= 3
		case hexagon.KindM:
			n &= 1
		}
		in.R[o.Index] = n
	}
	return in, true
}

// vectors lists the vector registers that an instruction reads or writes.
func vectors(in *hexagon.Inst, role hexagon.Role) (v []uint8) {
	f := in.Op.Form()
	for i := range f.Operands {
		o := &f.Operands[i]
		if o.Role&role == 0 {
			continue
		}
		switch o.Kind {
		case hexagon.KindV:
			v = append(v, in.R[o.Index])
		case hexagon.KindVV:
			v = append(v, in.R[o.Index], in.R[o.Index]+1)
		}
	}
	return v
}

// pick draws a form among some.
func (g *vectorGen) pick(ok func(f *hexagon.Form) bool) *hexagon.Form {
	for {
		if f := &g.forms[g.r.Intn(len(g.forms))]; ok(f) {
			return f
		}
	}
}

// setOperand sets the register of the first operand of a kind and role.
func setOperand(in *hexagon.Inst, k hexagon.Kind, role hexagon.Role, reg uint8) {
	f := in.Op.Form()
	for i := range f.Operands {
		if o := &f.Operands[i]; o.Kind == k && o.Role&role != 0 {
			in.R[o.Index] = reg
			return
		}
	}
}

// companion draws an instruction that uses or produces values of the packet.
func (g *vectorGen) companion(p *hexagon.Packet) (hexagon.Inst, bool) {
	with := &p.Insts[g.r.Intn(int(p.N))]
	uses, defs := vectors(with, hexagon.Use), vectors(with, hexagon.Def)
	switch g.r.Intn(6) {
	case 0, 1: // a load of a register it reads
		if len(uses) > 0 {
			in, ok := g.inst(g.pick(func(f *hexagon.Form) bool { return f.Has(hexagon.FlagCur | hexagon.FlagTmp) }))
			setOperand(&in, hexagon.KindV, hexagon.Def, uses[g.r.Intn(len(uses))])
			return in, ok
		}
	case 2: // a store of its result
		if len(defs) > 0 && !with.Op.Form().Has(hexagon.FlagTmp) {
			in, ok := g.inst(g.pick(func(f *hexagon.Form) bool { return f.IsHVX() && f.Has(hexagon.FlagNewStore) }))
			setOperand(&in, hexagon.KindNV, hexagon.Use, defs[g.r.Intn(len(defs))])
			return in, ok
		}
	case 3:
		return g.inst(g.pick(func(f *hexagon.Form) bool { return !f.IsHVX() && (f.MemBytes == 0 || !g.skewed) }))
	}
	return g.inst(g.pick((*hexagon.Form).IsHVX))
}

// block draws preparation and a packet around the form. ok is false when the
// draw is illegal or its result is not defined.
func (g *vectorGen) block(f *hexagon.Form) (prepare string, p hexagon.Packet, ok bool) {
	g.few = g.r.Intn(2) == 0
	in, ok := g.inst(f)
	if !ok {
		return "", p, false
	}
	add := func(x hexagon.Inst) { p.Insts[p.N] = x; p.N++ }
	if g.skewed = f.MemBytes == 128; g.skewed {
		prepare = fmt.Sprintf("{ r26 = add(r26,#%d) }\n", g.r.Intn(128))
	}
	runs := true
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.Kind == hexagon.KindNV:
			maker, _ := g.inst(g.pick(func(f *hexagon.Form) bool {
				return f.IsHVX() && f.MemBytes == 0 && !f.Has(hexagon.FlagPred) && slices.ContainsFunc(f.Operands, func(o hexagon.OperandSpec) bool {
					return o.Role&hexagon.Def != 0 && (o.Kind == hexagon.KindV || o.Kind == hexagon.KindVV)
				})
			}))
			add(maker)
			defs := vectors(&maker, hexagon.Def)
			in.R[o.Index] = defs[g.r.Intn(len(defs))]
		case o.New:
			add(hexagon.Inst{Op: hexagon.C2_cmpgt, R: [4]uint8{in.R[o.Index], uint8(g.r.Intn(26)), uint8(g.r.Intn(26))}})
		case o.Kind == hexagon.KindP && f.Has(hexagon.FlagCur|hexagon.FlagTmp):
			// QEMU 7.2 forwards to a reader the leftover of an earlier packet when the load does not run, so a load
			// that runs gets readers and the other does not.
			runs = g.r.Intn(4) > 0
			prepare += fmt.Sprintf("{ p%d = cmp.eq(r27,#%d) }\n", in.R[o.Index], 8+b2i(runs == o.Neg))
		}
	}
	if decode.IsScatterGather(f) {
		prepare += g.region(&in, f)
	}
	add(in)
	switch {
	case f.Class == hexagon.CVI_GATHER || f.Class == hexagon.CVI_GATHER_DV:
		if g.r.Intn(8) > 0 {
			st, _ := g.inst(g.pick(func(f *hexagon.Form) bool {
				return f.IsHVX() && f.Has(hexagon.FlagNewStore) && !f.Has(hexagon.FlagPredNew)
			}))
			setOperand(&st, hexagon.KindNV, hexagon.Use, hexagon.VTmp)
			add(st)
		}
	case f.Class == hexagon.CVI_HIST:
		ld, _ := g.inst(g.pick(func(f *hexagon.Form) bool { return f.Has(hexagon.FlagTmp) }))
		add(ld)
	case f.Has(hexagon.FlagCur|hexagon.FlagTmp) && runs:
		reader, ok := g.inst(g.pick(func(f *hexagon.Form) bool { return f.IsHVX() && f.MemBytes == 0 }))
		if ok {
			k := hexagon.KindV
			if g.r.Intn(4) == 0 {
				k = hexagon.KindVV
			}
			v := vectors(&in, hexagon.Def)[0]
			if k == hexagon.KindVV {
				v &^= 1
			}
			setOperand(&reader, k, hexagon.Use, v)
			add(reader)
		}
	}
	if !runs {
		return prepare, p, legal(&p) && !readsBack(&p, &in)
	}
	for want := g.r.Intn(4); int(p.N) < 4 && want > 0; want-- {
		q := p
		if x, ok := g.companion(&p); ok {
			q.Insts[q.N] = x
			q.N++
			if f.Class == hexagon.CVI_HIST && x.Op.Form().Has(hexagon.FlagStore) {
				continue // QEMU 7.2 then counts leftovers of an earlier packet
			}
			if legal(&q) && !(decode.IsScatterGather(f) && slices.ContainsFunc(vectors(&x, hexagon.Def), func(v uint8) bool { return v == 8 || v == 9 })) {
				p = q
			}
		}
	}
	return prepare, p, legal(&p)
}

// readsBack reports whether another instruction reads the vector that load makes.
func readsBack(p *hexagon.Packet, load *hexagon.Inst) bool {
	v := vectors(load, hexagon.Def)[0]
	for i := range p.Insts[:p.N] {
		if x := &p.Insts[i]; *x != *load && slices.Contains(vectors(x, hexagon.Use), v) {
			return true
		}
	}
	return false
}

// region puts offsets into the vectors of a scatter or gather, all of them inside a region of 512 bytes: QEMU does not
// drop those outside.
func (g *vectorGen) region(in *hexagon.Inst, f *hexagon.Form) string {
	mask := "0x00ff00ff"
	if g.r.Intn(2) == 0 {
		mask = "0x00fe00fe"
	}
	for i := range f.Operands {
		switch o := &f.Operands[i]; {
		case o.Kind == hexagon.KindVV:
			in.R[o.Index] = 8
			mask = "0x000000ff"
		case o.Kind == hexagon.KindV && i < len(f.Operands)-b2i(f.Has(hexagon.FlagStore)):
			in.R[o.Index] = 8
			if decode.Elements(f) == 32 {
				mask = "0x000000ff"
			}
		}
	}
	if f.Has(hexagon.FlagStore) && f.Syntax[len(f.Syntax)-5:] == "+= Vw" { // aligned by the hardware
		mask = map[bool]string{true: "0x000000fc", false: "0x00fc00fc"}[mask == "0x000000ff"]
	}
	a, b := g.r.Intn(32), g.r.Intn(32)
	return fmt.Sprintf("{ r1 = ##%s ; r2 = #511 }\n{ m0 = r2 }\n{ m1 = r2 }\n{ v7 = vsplat(r1) }\n{ v8 = vand(v%d,v7) }\n{ v9 = vand(v%d,v7) }\n", mask, a, b)
}

func legal(p *hexagon.Packet) bool {
	q := *p
	if q.Layout() != nil || q.Check() != nil || !wellDefined(&q) {
		return false
	}
	tmp, use := -1, 0
	for i := range q.Insts[:q.N] {
		f := q.Insts[i].Op.Form()
		if f.Has(hexagon.FlagBranch|hexagon.FlagLoop|hexagon.FlagV68) || !f.IsHVX() && f.Has(hexagon.FlagSolo) {
			return false
		}
		if f.Has(hexagon.FlagTmp) {
			tmp = int(vectors(&q.Insts[i], hexagon.Def)[0])
		}
		use += b2i(f.IsHVX())
	}
	for i := range q.Insts[:q.N] { // QEMU 7.2 stores leftovers of an earlier packet for a .new of a .tmp
		f := q.Insts[i].Op.Form()
		for k := range f.Operands {
			if o := &f.Operands[k]; o.Kind == hexagon.KindNV && int(q.Insts[i].R[o.Index]) == tmp {
				return false
			}
		}
	}
	return use > 0
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestOracleVector draws every vector form equally often.
func TestOracleVector(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	var todo []*hexagon.Form
	forms := hexagon.Forms()
	for i := range forms {
		if inVectorOracle(&forms[i]) {
			todo = append(todo, &forms[i])
		}
	}
	r := rand.New(rand.NewSource(oracleSeed(6)))
	g := newVectorGen(r)
	drawn := map[hexagon.Op]int{}
	total, most := 0, 0
	const rounds = 4 // each with its own state
	for range rounds {
		var h harness
		h.begin()
		var names []string
		for _, f := range todo {
			n := 0
			for tries := 0; n < perVectorForm/rounds && tries < 1000; tries++ {
				prepare, p, ok := g.block(f)
				if !ok {
					continue
				}
				text := prepare + p.Asm()
				h.block(assembleFlow(t, text))
				names = append(names, text)
				n++
				for i := range p.Insts[:p.N] {
					drawn[p.Insts[i].Op]++
				}
			}
			if n == 0 {
				t.Errorf("%s: no legal packet found", f.Name)
			}
		}
		compareQEMU(t, r, &h, names)
		total += len(names)
	}
	least := 1 << 30
	for _, f := range todo {
		least, most = min(least, drawn[f.Op]), max(most, drawn[f.Op])
	}
	t.Logf("%d packets, %d vector forms of %d, each %d to %d times", total, len(todo), len(forms), least, most)
	if least < perVectorForm/2 {
		t.Errorf("a form was drawn %d times only", least)
	}
}
