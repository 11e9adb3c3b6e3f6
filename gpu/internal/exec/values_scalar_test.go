package exec_test

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// checkScalar runs a row of a scalar instruction, with operands from registers and then from literals.
func checkScalar(r *row, f *rdna2.Form) error {
	v, err := numbers(r.in)
	if err != nil {
		return err
	}
	out := r.out
	for literal := range 3 {
		b := newBench(32)
		in := rdna2.Inst{Op: f.Op}
		ops, used := v, false
		take := func() (uint64, error) {
			if len(ops) == 0 {
				return 0, fmt.Errorf("%d operands are too few", len(v))
			}
			x := ops[0]
			ops = ops[1:]
			return x, nil
		}
		dst := 0
		for _, o := range f.Operands() {
			if o.Role == rdna2.RoleSDst {
				in.Dst, dst = dstReg, int(o.Regs)
				continue
			}
			x, err := take()
			if err != nil {
				return err
			}
			if o.Role == rdna2.RoleSImm16 {
				in.Simm16 = uint16(x)
				continue
			}
			slot := o.Slot()
			in.Src[slot] = uint16(srcReg + 4*slot)
			b.setS(srcReg+4*slot, int(o.Regs), x)
			if literal == slot+1 && o.Class == rdna2.ClassSSrc && o.Regs == 1 {
				in.Src[slot], in.Literal, used = rdna2.LiteralK, uint32(x), true
			}
		}
		if literal > 0 && !used {
			continue
		}
		if f.Uses&rdna2.ImplSCC != 0 {
			x, err := take()
			if err != nil {
				return err
			}
			b.setS(state.SCC, 1, x)
		}
		if len(ops) > 0 {
			b.setS(dstReg, dst, ops[0])
			ops = ops[1:]
		}
		if len(ops) > 0 {
			return fmt.Errorf("%d operands too many", len(ops))
		}
		results := make([]uint64, 0, 2)
		for i := range out {
			x, err := number(out[i])
			if err != nil {
				return err
			}
			results = append(results, x)
		}
		want := 0
		if dst > 0 {
			want++
		}
		if f.Defs&rdna2.ImplSCC != 0 {
			want++
		}
		if len(results) != want {
			return fmt.Errorf("%d results, want %d", len(results), want)
		}
		// Whatever SCC was before, an instruction that sets it sets it to the same.
		for scc := range 2 {
			if f.Uses&rdna2.ImplSCC == 0 {
				b.setS(state.SCC, 1, uint64(scc))
			} else if scc > 0 {
				break
			}
			b.want = b.contents()
			if dst > 0 {
				b.setWantS(dstReg, dst, results[0])
			}
			if f.Defs&rdna2.ImplSCC != 0 {
				b.setWantS(state.SCC, 1, results[len(results)-1])
			}
			old := b.w.S
			if err := b.exec(&in); err != nil {
				return err
			}
			b.w.S = old
		}
	}
	return nil
}
