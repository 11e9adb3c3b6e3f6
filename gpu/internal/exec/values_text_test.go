package exec_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/gpu/internal/decode"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// A row of text runs one instruction on a wave of 32 lanes, of 64 after "w64". State is a list of name=value:
//
//	v5=1,2,3      a vector register: value of lane 0, 1, 2, 0, 1, 2, ...; "-" leaves it as it was
//	v5[7]=1       of one lane alone
//	v[4:5]=..     as many registers as there are; s4, s[4:5], vcc, exec, m0, scc likewise
//	mem[10]=..    memory from testBase+10 on, in bytes, the last digits first; lds[10], scratch.3[10] of lane 3
//	@10           as a value: the address testBase+10; code@4 that of the code, lds@8 and private@8 generic ones
//	pc=8          the next instruction; it begins at 0
//	flat=..       FLAT_SCRATCH
//	control=wait vm=.. lgkm=.. vs=..   the request to the sequencer, in decimal; "idle" the cycles of s_nop
//	error=text    the run ends with an error that has the text; _ is a space
//	same          nothing changes
//
// In the results a vector register means the lanes that were active before.
func (r *textRow) check(covered map[rdna2.Op]bool) error {
	text, lanes := r.text, 32
	if s, ok := strings.CutPrefix(text, "w64 "); ok {
		text, lanes = s, 64
	}
	in, err := rdna2.Assemble(text, lanes == 64)
	if err != nil {
		return err
	}
	for _, op := range append(withoutOffset(&in), in.Op) {
		in.Op = op
		covered[op] = true
		if err := r.run(in, lanes); err != nil {
			return fmt.Errorf("%s: %w", op.Form().Name, err)
		}
	}
	return nil
}

// withoutOffset is the form of a scalar load that has no offset, when the instruction's is 0: its encoding is the same.
func withoutOffset(in *rdna2.Inst) []rdna2.Op {
	f := in.Form()
	if f.Format != rdna2.SMEM || in.Offset != 0 || f.NumOps < 4 {
		return nil
	}
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		if g := op.Form(); g.Mnemonic == f.Mnemonic && g.NumOps == 3 && g.Ops[2].Role == rdna2.RoleSOffset {
			return []rdna2.Op{op}
		}
	}
	return nil
}

func (r *textRow) run(in rdna2.Inst, lanes int) error {
	b := newBench(lanes)
	code, err := in.Encode(nil)
	if err != nil {
		return err
	}
	size := len(code)
	for range 8 {
		code = append(code, 0, 0, 0x80, 0xBF) // s_nop 0
	}
	if err := decode.Program(&b.p, code, 0); err != nil {
		return err
	}
	live := b.contents()
	if err := b.assign(r.in, &live, true); err != nil {
		return err
	}
	copy(b.regs, live.regs)
	copy(b.mem, live.mem)
	copy(b.w.Group.LDS, live.lds)
	copy(b.w.Scratch, live.scratch)
	b.w.S, b.w.FlatScratch = live.s, live.flat
	b.w.PC = 1 // the handler finds the counter at the next instruction
	u := &b.p.Ops[0]
	b.want = b.contents()
	control := map[string]int64{}
	if err := b.expect(r.out, u, control, size); err != nil {
		return err
	}
	failed := u.Details.Err
	if failed == nil {
		u.Handler(&b.w, u)
		failed = b.m.Err
	}
	switch {
	case b.wantErr != "" && (failed == nil || !strings.Contains(failed.Error(), b.wantErr)):
		return fmt.Errorf("error %v, want %q", failed, b.wantErr)
	case b.wantErr != "":
		return nil
	case failed != nil:
		return failed
	}
	for k, v := range map[string]int64{"control": int64(u.Control), "vm": int64(u.A), "lgkm": int64(u.B), "vs": int64(u.C), "idle": int64(u.Imm)} {
		if want, ok := control[k]; ok && v != want || k == "control" && !ok && v != 0 {
			return fmt.Errorf("%s is %d, want %d", k, v, want)
		}
	}
	return b.compare()
}

var controls = map[string]int64{"end": state.ControlEnd, "barrier": state.ControlBarrier, "wait": state.ControlWait, "invalidate": state.ControlInvalidate}

// expect reads the state after.
func (b *bench) expect(list string, u *state.Op, control map[string]int64, size int) error {
	var rest []string
	for _, x := range strings.Fields(list) {
		k, v, _ := strings.Cut(x, "=")
		switch k {
		case "error":
			b.wantErr = strings.ReplaceAll(v, "_", " ")
		case "control":
			c, ok := controls[v]
			if !ok {
				return fmt.Errorf("no control %q", v)
			}
			control[k] = c
		case "vm", "lgkm", "vs", "idle":
			n, err := strconv.Atoi(v)
			if err != nil {
				return err
			}
			control[k] = int64(n)
		case "pc":
			n, err := number(v)
			if err != nil {
				return err
			}
			if b.want.pc = b.p.IndexOf(int64(n)); b.want.pc < 0 {
				return fmt.Errorf("no instruction begins at %#x", n)
			}
		default:
			rest = append(rest, x)
		}
	}
	return b.assign(strings.Join(rest, " "), &b.want, false)
}

// value is a number or an address.
func value(s string) (uint64, error) {
	name, off, ok := strings.Cut(s, "@")
	if !ok {
		return number(s)
	}
	n, err := number(off)
	base, known := map[string]uint64{"": testBase, "code": state.CodeWindow, "lds": state.SharedAperture, "private": state.PrivateAperture, "scratch": state.ScratchWindow}[name]
	if !known {
		return 0, fmt.Errorf("no address %q", s)
	}
	return base + n, err
}

// span reads "4" or "[4:7]" as a range of registers.
func span(s string) (first, n int, ok bool) {
	if t, found := strings.CutPrefix(s, "["); found {
		a, z, _ := strings.Cut(strings.TrimSuffix(t, "]"), ":")
		i, err1 := strconv.Atoi(a)
		j, err2 := strconv.Atoi(z)
		return i, j - i + 1, err1 == nil && err2 == nil && j >= i && j-i < 16
	}
	i, err := strconv.Atoi(s)
	return i, 1, err == nil
}

// assign applies a list of name=value to c; vector registers change in all lanes, or in the active ones.
func (b *bench) assign(list string, c *contents, all bool) error {
	lanes := b.w.Lanes
	for _, x := range strings.Fields(list) {
		if x == "same" {
			continue
		}
		k, v, ok := strings.Cut(x, "=")
		bad := fmt.Errorf("%q is not understood", x)
		if !ok {
			return bad
		}
		name, at, indexed := strings.Cut(k, "[")
		mask := lanes / 32
		switch {
		case name == "mem" || name == "lds" || strings.HasPrefix(name, "scratch"):
			n, err := number(strings.TrimSuffix(at, "]"))
			bytes, err2 := little(v)
			if !indexed || err != nil || err2 != nil {
				return bad
			}
			for i, y := range bytes {
				o := int(n) + i
				switch {
				case name == "mem":
					c.mem[o] = y
				case name == "lds":
					c.lds[o] = y
				default:
					l, err := strconv.Atoi(strings.TrimPrefix(name, "scratch."))
					if err != nil {
						return bad
					}
					c.scratch[o/4*4*lanes+4*l+o%4] = y
				}
			}
		case k == "flat":
			n, err := value(v)
			if err != nil {
				return err
			}
			c.flat = n
		case k == "vcc" || k == "exec" || k == "m0" || k == "scc" || k == "exec_hi" || k == "vcc_hi":
			n, err := value(v)
			if err != nil {
				return err
			}
			reg := map[string]int{"vcc": state.VCC, "exec": state.EXEC, "m0": state.M0, "scc": state.SCC, "exec_hi": state.EXEC + 1, "vcc_hi": state.VCC + 1}[k]
			if k != "vcc" && k != "exec" {
				mask = 1
			}
			setScalar(&c.s, reg, mask, n)
		case k[0] == 's' || k[0] == 'v':
			lane := -1
			spec := k[1:]
			if i := strings.Index(spec, "["); i > 0 {
				l, err := strconv.Atoi(strings.TrimSuffix(spec[i+1:], "]"))
				if err != nil || l >= lanes {
					return bad
				}
				lane, spec = l, spec[:i]
			}
			reg, n, ok := span(spec)
			if !ok {
				return bad
			}
			values := strings.Split(v, ",")
			if k[0] == 's' {
				for i, s := range values { // of several registers beyond 64 bits, each its own
					y, err := value(s)
					if err != nil {
						return err
					}
					if len(values) > 1 {
						setScalar(&c.s, reg+i, 1, y)
					} else {
						setScalar(&c.s, reg, n, y)
					}
				}
				continue
			}
			for l := range lanes {
				s := values[l%len(values)]
				if lane >= 0 && l != lane || lane < 0 && !all && b.w.Exec()>>l&1 == 0 || s == "-" {
					continue
				}
				y, err := value(s)
				if err != nil {
					return err
				}
				setLane(c.regs, lanes, reg, l, n, y)
			}
		default:
			return bad
		}
	}
	return nil
}
