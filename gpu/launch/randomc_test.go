package launch

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// cProgram writes random kernels of structured C that mean the same on every machine: integers are unsigned, shifts and
// divisors are made safe, floats are added, subtracted and multiplied without contraction, and NaNs and zeros are
// stored as one value each: clang-19 for gfx1030 makes 0 - x the negation of x, which has another sign where x is 0.
// Loops end by their own counter. Barriers are where all work-items pass. Atomics between two barriers are of one kind,
// whose order does not matter. An operation of
// halves is rounded by itself.
type cProgram struct {
	strings.Builder
	r     *rand.Rand
	depth int // of nesting
	loops int // around
	names int
	left  int // statements

	atomic string // kind of those in this part of the kernel, none: outside of it
}

// randomKernel is the source of a kernel and of the functions that it calls.
func randomKernel(name string, seed uint64) string {
	p := &cProgram{r: rand.New(rand.NewPCG(seed, 26))}
	for i := range 2 {
		p.left = 4
		fmt.Fprintf(p, "static __attribute__((%s)) uint %s_f%d(GLOBAL const uint *a, GLOBAL const uint *b, uint v0, uint v1, uint v2) {\n  uint v3 = v0 ^ %#xu; u64 q0 = v1; float f0 = (float)(v2 & 0xFFFFu), f1 = 0.25f; uint s[8] = {v0, v1, v2};\n"+vectors, pick(p.r, "noinline", "always_inline"), name, i, p.r.Uint32())
		p.block(1)
		fmt.Fprintf(p, "  return v0 + 3 * v1 + 5 * v2 + 7 * v3 + (uint)q0 + (uint)(q0 >> 32) + BITS(f0) + BITS(f1) + s[v3 & 7] + HBITS(h0) + x0.z;\n}\n")
	}
	fmt.Fprintf(p, "KERNEL(%s) {\n  LOCAL uint shared[64], cells[16];\n  uint lid = LID(0), gid = GRP(0) * 64 + lid;\n", name)
	p.WriteString("  uint v0 = a[gid & 2047], v1 = b[(gid * 7) & 2047], v2 = gid, v3 = n;\n  u64 q0 = ((u64)v0 << 32) | v1;\n  float f0 = (float)(v0 & 0xFFFFu) * 0.125f, f1 = (float)(int)v2;\n  uint s[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n" + vectors)
	p.left = 14
	global := pick(p.r, atomics...)
	for i := range 3 {
		p.WriteString("  if (lid < 16) cells[lid] = lid * 0x01010101u;\n  BARRIER();\n")
		p.atomic = pick(p.r, atomics...)
		p.block(0)
		p.line("ATOMIC(%s, GLOBAL, &out[1024 + (%s & 63)], %s);", global, p.integer(1), p.integer(1))
		p.line("ATOMIC(%s, LOCAL, &cells[%s & 15], %s);", p.atomic, p.integer(1), p.integer(2))
		p.atomic = ""
		p.line("BARRIER();")
		p.line("v%d += cells[(lid + %d) & 15];", p.r.IntN(4), p.r.IntN(16))
		p.line("BARRIER();")
		if i < 2 {
			// All work-items pass here.
			fmt.Fprintf(p, "  shared[lid] = %s;\n  BARRIER();\n  v%d ^= shared[(lid + %d) & 63];\n  BARRIER();\n", p.integer(2), p.r.IntN(4), 1+p.r.IntN(63))
		}
		fmt.Fprintf(p, "  v%d += %s_f%d(a, b, v0, v1, %s);\n", p.r.IntN(4), name, p.r.IntN(2), p.integer(1))
	}
	p.WriteString("  uint h = v0;\n  h = h * 31 + v1; h = h * 31 + v2; h = h * 31 + v3; h = h * 31 + (uint)q0; h = h * 31 + (uint)(q0 >> 32);\n  h = h * 31 + BITS(f0); h = h * 31 + BITS(f1);\n  h = h * 31 + HBITS(h0); h = h * 31 + HBITS(h1);\n  for (int i = 0; i < 4; i++) h = h * 31 + x0[i];\n  for (int i = 0; i < 8; i++) h = h * 31 + s[i];\n  if (gid < n) out[gid] = h;\n}\n")
	return p.String()
}

// vectors declares a vector of four and halves.
const vectors = "  uint4 x0 = U4(v0, v1 ^ 5, v2, v3); half h0 = (half)(float)(v0 & 0x3FFu), h1 = (half)0.75f;\n"

// atomics are kinds whose order does not matter.
var atomics = []string{"add", "xor", "or", "and", "min", "max"}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// line writes an indented line.
func (p *cProgram) line(format string, args ...any) {
	p.WriteString(strings.Repeat("  ", p.depth+1))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// block writes some statements.
func (p *cProgram) block(depth int) {
	for range 1 + p.r.IntN(4) {
		p.statement(depth)
	}
}

// nested writes a block in braces.
func (p *cProgram) nested(depth int, head string) {
	p.line("%s {", head)
	p.depth++
	p.block(depth + 1)
	p.depth--
}

func (p *cProgram) statement(depth int) {
	p.left--
	kind := p.r.IntN(15)
	if depth > 3 || p.left < 0 {
		kind = p.r.IntN(6)
	}
	switch kind {
	case 12:
		p.vector()
	case 13:
		p.half()
	case 14:
		if p.atomic == "" {
			p.vector()
			return
		}
		p.line("ATOMIC(%s, LOCAL, &cells[%s & 15], %s);", p.atomic, p.integer(1), p.integer(1))
	case 0, 1:
		p.line("v%d %s %s;", p.r.IntN(4), pick(p.r, "=", "+=", "-=", "^=", "|=", "&=", "*="), p.integer(3))
	case 2:
		p.line("f%d = %s;", p.r.IntN(2), p.float(3))
	case 3:
		p.line("q0 %s (u64)%s * %s;", pick(p.r, "=", "+=", "^=", "-="), p.integer(2), p.integer(1))
	case 4:
		p.line("s[%s & 7] %s %s;", p.integer(1), pick(p.r, "=", "+=", "^="), p.integer(2))
	case 5:
		p.line("v%d = %s;", p.r.IntN(4), pick(p.r,
			fmt.Sprintf("(uint)(u8)%s", p.integer(2)), fmt.Sprintf("(uint)(i32)(i8)%s", p.integer(2)), fmt.Sprintf("(uint)(i32)(i16)%s", p.integer(2)),
			fmt.Sprintf("a[%s & 2047]", p.integer(2)), fmt.Sprintf("((const GLOBAL u8 *)b)[%s & 8191]", p.integer(2)), fmt.Sprintf("TOINT(%s)", p.float(2)),
			fmt.Sprintf("(uint)(q0 >> (%s & 63))", p.integer(1))))
	case 6, 7:
		p.nested(depth, fmt.Sprintf("if (%s)", p.condition()))
		if p.r.IntN(2) == 0 {
			p.nested(depth, "} else")
		}
		p.line("}")
	case 8, 9, 10:
		if p.loops == 2 {
			p.line("v%d ^= %s;", p.r.IntN(4), p.integer(2))
			return
		}
		p.names++
		i := fmt.Sprintf("j%d", p.names)
		bound := pick(p.r, fmt.Sprint(1+p.r.IntN(5)), fmt.Sprintf("(%s & 7)", p.integer(1)))
		p.loops++
		switch p.r.IntN(3) {
		case 0:
			p.nested(depth, fmt.Sprintf("for (uint %s = 0; %s < %s; %s++)", i, i, bound, i))
			if p.r.IntN(3) == 0 {
				p.line("  if (%s) %s;", p.condition(), pick(p.r, "break", "continue"))
			}
			p.line("}")
		case 1:
			p.line("uint %s = %s;", i, bound)
			p.nested(depth, fmt.Sprintf("while (%s-- > 0)", i))
			p.line("}")
		default:
			p.line("uint %s = %s;", i, bound)
			p.nested(depth, "do")
			p.line("} while (%s-- > 0);", i)
		}
		p.loops--
	default:
		p.line("switch (%s & 3) {", p.integer(2))
		for c := range 3 {
			p.nested(depth, fmt.Sprintf("case %d:", c))
			p.line("}%s", pick(p.r, " break;", ""))
		}
		p.line("default: v%d += %d; }", p.r.IntN(4), p.r.IntN(100))
	}
}

// vector writes a statement of vectors.
func (p *cProgram) vector() {
	swizzle := ""
	for range 4 {
		swizzle += pick(p.r, "x", "y", "z", "w")
	}
	four := fmt.Sprintf("U4(%s, %s, %s, %s)", p.integer(1), p.integer(1), p.integer(1), p.integer(1))
	p.line("%s", pick(p.r,
		fmt.Sprintf("x0 %s %s;", pick(p.r, "=", "+=", "-=", "^=", "*=", "|="), four),
		fmt.Sprintf("x0 = x0.%s %s %s;", swizzle, pick(p.r, "+", "*", "^"), four),
		fmt.Sprintf("x0 = (x0 << (%s & 31u)) + (x0 >> (%s & 31u));", four, p.integer(0)),
		fmt.Sprintf("x0 = __builtin_convertvector(__builtin_convertvector(x0, uchar4), uint4) + %s;", p.integer(1)),
		fmt.Sprintf("x0 += __builtin_convertvector(__builtin_convertvector(x0 * %s, ushort4), uint4);", p.integer(1)),
		fmt.Sprintf("x0.%s = %s;", pick(p.r, "x", "y", "z", "w"), p.integer(2)),
		fmt.Sprintf("v%d = x0.%s + x0[%s & 3];", p.r.IntN(4), pick(p.r, "x", "y", "z", "w"), p.integer(1))))
}

// half writes a statement of halves.
func (p *cProgram) half() {
	p.line("%s", pick(p.r,
		fmt.Sprintf("h%d = (half)(h0 %s h1);", p.r.IntN(2), pick(p.r, "+", "-", "*")),
		fmt.Sprintf("h%d = (half)(h%d %s (half)%.2ff);", p.r.IntN(2), p.r.IntN(2), pick(p.r, "+", "-", "*"), p.r.Float64()*8-4),
		fmt.Sprintf("h%d = (half)(float)(%s & 0x7FFu);", p.r.IntN(2), p.integer(1)),
		fmt.Sprintf("h%d = (half)(%s);", p.r.IntN(2), p.float(1)),
		fmt.Sprintf("f%d = (float)h%d * 0.5f;", p.r.IntN(2), p.r.IntN(2)),
		fmt.Sprintf("if (h0 %s h1) v%d += 3;", pick(p.r, "<", ">", "==", "!="), p.r.IntN(4))))
}

// integer is an expression of type uint.
func (p *cProgram) integer(depth int) string {
	if depth == 0 {
		return pick(p.r, "v0", "v1", "v2", "v3", fmt.Sprintf("%#xu", p.r.Uint32()), fmt.Sprintf("%du", p.r.IntN(64)))
	}
	a, b := p.integer(depth-1), p.integer(p.r.IntN(depth))
	switch p.r.IntN(14) {
	case 0:
		return fmt.Sprintf("(%s << (%s & 31))", a, b)
	case 1:
		return fmt.Sprintf("(%s >> (%s & 31))", a, b)
	case 2:
		return fmt.Sprintf("(uint)((i32)%s >> (%s & 31))", a, b)
	case 3:
		// Not of a value extended from 16 bits or fewer: clang-19 for gfx1030 divides such unsigned ones by
		// way of float, as if they were not negative when signed.
		return fmt.Sprintf("((%s ^ 0x5A5A5A5Au) %s (%s | 1u))", a, pick(p.r, "/", "%"), b)
	case 4:
		return fmt.Sprintf("(%s ? %s : %s)", p.condition(), a, b)
	case 5:
		return fmt.Sprintf("s[%s & 7]", a)
	case 6:
		return "~" + a
	case 7:
		return fmt.Sprintf("(uint)(((u64)%s * %s) >> 32)", a, b)
	default:
		return fmt.Sprintf("(%s %s %s)", a, pick(p.r, "+", "-", "*", "^", "&", "|"), b)
	}
}

// float is an expression of type float.
func (p *cProgram) float(depth int) string {
	if depth == 0 {
		return pick(p.r, "f0", "f1", fmt.Sprintf("%.3ff", p.r.Float64()*8-4), fmt.Sprintf("(float)(%s & 0xFFFu)", p.integer(1)), fmt.Sprintf("(float)(i32)%s", p.integer(1)))
	}
	a, b := p.float(depth-1), p.float(p.r.IntN(depth))
	if p.r.IntN(6) == 0 {
		return fmt.Sprintf("(%s ? %s : %s)", p.condition(), a, b)
	}
	return fmt.Sprintf("(%s %s %s)", a, pick(p.r, "+", "-", "*"), b)
}

// condition is an expression to branch on.
func (p *cProgram) condition() string {
	switch p.r.IntN(5) {
	case 0:
		return fmt.Sprintf("%s %s %s", pick(p.r, "f0", "f1"), pick(p.r, "<", ">", "<=", "==", "!="), p.float(1))
	case 1:
		return fmt.Sprintf("(i32)%s %s (i32)%s", p.integer(1), pick(p.r, "<", ">=", ">"), p.integer(1))
	case 2:
		return fmt.Sprintf("(%s & %du) != 0", p.integer(1), 1<<p.r.IntN(6))
	case 3:
		return fmt.Sprintf("q0 %s (u64)%s << %d", pick(p.r, "<", ">="), p.integer(1), p.r.IntN(33))
	default:
		return fmt.Sprintf("%s %s %s", p.integer(1), pick(p.r, "<", ">", "==", "<="), p.integer(1))
	}
}
