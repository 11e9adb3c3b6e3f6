package exec

import "github.com/nnsoc/nnsoc/gpu/internal/state"

// Pack finds the operations of a program that follow each other and can be executed as batches.
func Pack(p *state.Program) {
	p.BatchLen, p.Packed = make([]uint8, len(p.Ops)), make([]state.Packed, len(p.Ops))
	for i := len(p.Ops) - 1; i >= 0; i-- {
		u := &p.Ops[i]
		if u.Details.Batch == nil || u.Details.Inner != nil {
			continue
		}
		p.Packed[i] = state.Packed{uint16(4 * u.Dst), uint16(4 * u.A), uint16(4 * u.B), uint16(4 * u.C)}
		p.BatchLen[i] = 1
		if n := p.BatchLen[i+1]; n > 0 && p.Ops[i+1].AFrom == u.AFrom && p.Ops[i+1].Details.Form.Mnemonic == u.Details.Form.Mnemonic {
			p.BatchLen[i] = uint8(min(int(n)+1, 255))
		}
	}
}

// Range executes the operations [pc, end) of the wave's program, which follow each other without a branch.
func Range(w *state.Wave, pc, end int32) {
	p := w.Machine.Program
	for pc < end {
		if k := min(int32(p.BatchLen[pc]), end-pc); k > 1 {
			pc += batch(w, p, pc, k)
			continue
		}
		u := &p.Ops[pc]
		u.Handler(w, u)
		pc++
	}
}

// batch executes some of the k operations at pc and returns how many.
func batch(w *state.Wave, p *state.Program, pc, k int32) int32 {
	m := w.Exec()
	if m == 0 {
		return k
	}
	u := &p.Ops[pc]
	v := (*uint32)(w.V)
	s := v
	if u.AFrom == state.SourceSGPR {
		s = &w.S[0]
	}
	n, rest := u.Details.Batch(v, s, &p.Packed[pc], int(k), m, w.Lanes)
	if rest == 0 {
		return k
	}
	u = &p.Ops[pc+int32(n)]
	u.Details.Lanes(w.Row(u.Dst), readRow(w, u.AFrom, u.A, 0), w.Row(u.B), w.Row(u.C), rest, w.Lanes)
	return int32(n) + 1
}
