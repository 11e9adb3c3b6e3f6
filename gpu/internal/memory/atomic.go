package memory

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// atomicOps by the word in the mnemonic. 32-bit operands are zero-extended,
// sign-extended for the signed ones.
var atomicOps = map[string]func(wide bool) state.AtomicFunc{
	"swap":   plainAtomic(func(_, d uint64) uint64 { return d }),
	"wrxchg": plainAtomic(func(_, d uint64) uint64 { return d }),
	"add":    plainAtomic(func(o, d uint64) uint64 { return o + d }),
	"sub":    plainAtomic(func(o, d uint64) uint64 { return o - d }),
	"rsub":   plainAtomic(func(o, d uint64) uint64 { return d - o }),
	"and":    plainAtomic(func(o, d uint64) uint64 { return o & d }),
	"or":     plainAtomic(func(o, d uint64) uint64 { return o | d }),
	"xor":    plainAtomic(func(o, d uint64) uint64 { return o ^ d }),
	"umin":   plainAtomic(func(o, d uint64) uint64 { return min(o, d) }),
	"umax":   plainAtomic(func(o, d uint64) uint64 { return max(o, d) }),
	"smin":   signedAtomic(func(o, d int64) bool { return d < o }),
	"smax":   signedAtomic(func(o, d int64) bool { return d > o }),
	"inc": plainAtomic(func(o, d uint64) uint64 {
		if o >= d {
			return 0
		}
		return o + 1
	}),
	"dec": plainAtomic(func(o, d uint64) uint64 {
		if o == 0 || o > d {
			return d
		}
		return o - 1
	}),
	"fmin": func(wide bool) state.AtomicFunc {
		if wide {
			return func(o, d, _ uint64) uint64 { return float.Min64(o, d) }
		}
		return func(o, d, _ uint64) uint64 { return uint64(float.Min(uint32(o), uint32(d))) }
	},
	"fmax": func(wide bool) state.AtomicFunc {
		if wide {
			return func(o, d, _ uint64) uint64 { return float.Max64(o, d) }
		}
		return func(o, d, _ uint64) uint64 { return uint64(float.Max(uint32(o), uint32(d))) }
	},
	"fadd": func(bool) state.AtomicFunc {
		return func(o, d, _ uint64) uint64 { return uint64(float.Add(uint32(o), uint32(d))) }
	},
	"mskor": func(bool) state.AtomicFunc { return func(o, d, mask uint64) uint64 { return o&^mask | d } },
	"wrap": func(bool) state.AtomicFunc {
		return func(o, d, limit uint64) uint64 {
			if o >= limit {
				return o - limit
			}
			return o + d
		}
	},
	"cmpswap": func(bool) state.AtomicFunc {
		return func(o, d, c uint64) uint64 {
			if o == c {
				return d
			}
			return o
		}
	},
	"fcmpswap": func(wide bool) state.AtomicFunc {
		return func(o, d, c uint64) uint64 {
			eq := float.F32(uint32(o)) == float.F32(uint32(c))
			if wide {
				eq = float.F64(o) == float.F64(c)
			}
			if eq {
				return d
			}
			return o
		}
	},
}

func plainAtomic(f func(o, d uint64) uint64) func(bool) state.AtomicFunc {
	return func(bool) state.AtomicFunc { return func(o, d, _ uint64) uint64 { return f(o, d) } }
}

func signedAtomic(take func(o, d int64) bool) func(bool) state.AtomicFunc {
	return func(wide bool) state.AtomicFunc {
		return func(o, d, _ uint64) uint64 {
			a, b := int64(o), int64(d)
			if !wide {
				a, b = int64(int32(o)), int64(int32(d))
			}
			if take(a, b) {
				return d
			}
			return o
		}
	}
}

// dsAtomicName maps an LDS mnemonic's word and type to a name of atomicOps.
func dsAtomicName(op, typ string) string {
	switch {
	case op == "cmpst" && typ[0] == 'f':
		return "fcmpswap"
	case op == "cmpst":
		return "cmpswap"
	case typ[0] == 'f':
		return "f" + op
	case op != "min" && op != "max":
		return op
	case typ[0] == 'i':
		return "s" + op
	}
	return "u" + op
}

// atomics executes in lane order, which makes results reproducible.
func atomics(w *state.Wave, u *state.Op, op *state.Access, m uint64, b []byte, base uint64) {
	n := uint32(w.Lanes)
	read := func(off uint32, l int) uint64 {
		v := uint64(w.Row(off)[l])
		if op.Wide {
			v |= uint64(w.Row(off + n)[l]) << 32
		}
		return v
	}
	words := uint32(op.Size / 4)
	for k := m; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		p := b[w.Machine.Addr[l]-base:]
		data, cmp := read(u.B, l), uint64(0)
		if op.Compares {
			if op.LDS {
				// LDS: data0 is the comparand, data1 the new value.
				cmp, data = data, read(u.C, l)
			} else {
				cmp = read(u.B+words*n, l)
			}
		}
		var old uint64
		if op.Wide {
			old = binary.LittleEndian.Uint64(p)
			binary.LittleEndian.PutUint64(p, op.Atomic(old, data, cmp))
		} else {
			old = uint64(binary.LittleEndian.Uint32(p))
			binary.LittleEndian.PutUint32(p, uint32(op.Atomic(old, data, cmp)))
		}
		if op.Returns {
			w.Row(u.Dst)[l] = uint32(old)
			if op.Wide {
				w.Row(u.Dst + n)[l] = uint32(old >> 32)
			}
		}
	}
}
