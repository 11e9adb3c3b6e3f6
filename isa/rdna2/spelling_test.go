package rdna2_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
)

// operandKinds are operands of every kind, some of which fit an instruction and some of which do not.
var operandKinds = strings.Fields(`v0 v1 v255 v[2:3] v[3:4] v[4:6] v[4:7] v[8:15] v256 v[255:256]
	s0 s1 s103 s105 s[2:3] s[3:4] s[4:7] s[6:9] s[8:15] s[16:31] s106 ttmp3 ttmp[4:5] ttmp[4:7] ttmp[12:15] ttmp16
	vcc_lo vcc_hi vcc exec_lo exec_hi exec m0 null scc src_scc vccz src_vccz execz src_execz off
	shared_base src_shared_base shared_limit src_private_base private_limit lds_direct src_lds_direct
	[v1,v2] [s2,s3] [v4] [vcc_lo,vcc_hi] [exec_lo,exec_hi] v[1+1] v[2*2:2+3] s[1<<1] s[4:(3+2)]
	0 1 -1 16 -16 -17 64 65 100 127 128 255 256 -128 -129 1024 4095 4096 -2048 32767 32768 65535 65536 -32768 -32769
	0x1 0x40 0x7f 0xff 0xfff 0x7fff 0xffff 0x10000 0xfffff 0x12345678 0x7fffffff 0x80000000 0xffffffff 0xfffffff0 0x100000000 4294967295 -2147483648 -2147483649
	0xffffffffffffffff 0xfffffffffffffff0 0xffffffff80000000 0x7fffffffffffffff
	0x3f800000 0xbf000000 0x3e22f983 0x3c00 0xb800 0x3118 0x3c003c00 0x3ff0000000000000 0x3fc45f306dc9c882 0x3ff00000 0x3fe00000
	0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 1.5 -3.25 0.1 1e10 -1e-10 65504.0 65536.0 1e39 1e-50 1. .5 0.0 -0.0 0x1.8p1
	0.15915494 0.159154943 0.15915494309189532 0.1592 0.15917969 010 0b101 1+1 (2*8) ~0 -(1) 3-4 2|1 1<<4 0x10/2 7%4 !0`)

// modifiers are the modifiers that instructions have, with values at and beyond their limits; a comma joins two.
var modifiers = strings.Fields(`clamp noclamp mul:2 mul:4 div:2 mul:1 mul:3 div:4 glc slc dlc glc,slc slc,dlc noglc gds offen idxen
	offset:0 offset:1 offset:4 offset:255 offset:256 offset:2047 offset:2048 offset:4095 offset:4096 offset:65535 offset:65536 offset:-1 offset:-2048 offset:-2049 offset:0x10 offset:2*8 offset:0xfffff offset:-0x100000
	offset0:1 offset1:2 offset0:255,offset1:1 offset0:256
	op_sel:[1] op_sel:[0,1] op_sel:[1,0,1] op_sel:[0,1,1,0] op_sel:[1,1,1,1] op_sel_hi:[0,1] op_sel_hi:[0,0,1] neg_lo:[1,0] neg_lo:[1,0,1] neg_hi:[0,1] neg_hi:[1,1,0] op_sel:[2,0]
	quad_perm:[0,1,2,3] quad_perm:[3,3,3,3] quad_perm:[0,1,2,4] row_shl:1 row_shl:15 row_shl:0 row_shl:16 row_shr:3 row_ror:7 row_share:0 row_share:15 row_xmask:1 row_mirror row_half_mirror
	row_shr:1,row_mask:0xa row_shr:1,bank_mask:3 row_shr:1,bound_ctrl:0 row_shr:1,bound_ctrl:1 row_shr:1,bound_ctrl:2 row_shr:1,fi:1 row_shr:1,row_mask:16
	row_mirror,row_mask:0x1,bank_mask:0x2,bound_ctrl:1,fi:1 wave_shl:1 row_bcast:15
	dpp8:[7,6,5,4,3,2,1,0] dpp8:[0,0,0,0,0,0,0,0],fi:1 dpp8:[8,6,5,4,3,2,1,0]
	dst_sel:BYTE_1 dst_sel:WORD_1,dst_unused:UNUSED_PAD dst_unused:UNUSED_SEXT src0_sel:BYTE_3 src0_sel:WORD_0 src1_sel:WORD_1 src0_sel:DWORD,src1_sel:BYTE_2
	offset:swizzle(SWAP,4) offset:swizzle(REVERSE,8) offset:swizzle(BROADCAST,4,3) offset:swizzle(QUAD_PERM,3,2,1,0) offset:swizzle(BITMASK_PERM,"01pip") offset:swizzle(SWAP,3)`)

// statements is a form's instruction as the disassembler prints it, in other spellings, and with others of the operands
// and modifiers above in place of its own, per of them for each place.
func statements(f *rdna2.Form, r *rand.Rand, wave64 bool, per int) []string {
	in := rdna2.RandomInst(f, r, wave64)
	text := in.Text(wave64)
	out := []string{text}
	for range 3 {
		in := rdna2.RandomInst(f, r, wave64)
		out = append(out, respell(in.Text(wave64), r))
	}
	word, items, tail := parts(text)
	write := func(items []string, tail string) {
		w := word
		if r.IntN(3) == 0 {
			for _, suffix := range []string{"_e32", "_e64", "_dpp", "_sdwa"} {
				w = strings.TrimSuffix(w, suffix)
			}
		}
		out = append(out, strings.TrimSpace(w+" "+strings.Join(items, ", ")+" "+tail))
	}
	for i := range items {
		for range per {
			list := slices.Clone(items)
			list[i] = strings.Replace(signed[r.IntN(len(signed))], "%s", operandKinds[r.IntN(len(operandKinds))], 1)
			write(list, []string{"", tail}[r.IntN(2)])
		}
	}
	for range per {
		write(items, modifiers[r.IntN(len(modifiers))])
	}
	return out
}

// signed are the ways to write a source with modifiers; most have none.
var signed = strings.Fields("%s %s %s %s %s %s -%s |%s| neg(%s) abs(%s) neg(|%s|) -abs(%s) sext(%s)")

// parts splits what the disassembler prints into mnemonic, operands and modifiers.
func parts(text string) (word string, items []string, tail string) {
	word, rest, _ := strings.Cut(text, " ")
	depth, start := 0, 0
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == ',' && depth == 0:
			items = append(items, strings.TrimSpace(rest[start:i]))
			start = i + 1
		case c == ' ' && depth == 0 && i > start && rest[i-1] != ',':
			if last := strings.TrimSpace(rest[start:i]); last != "" {
				return word, append(items, last), rest[i+1:]
			}
		}
	}
	if last := strings.TrimSpace(rest[start:]); last != "" {
		items = append(items, last)
	}
	return word, items, ""
}

var between = regexp.MustCompile(`[][(),:|]|-`)

// respell writes an instruction with other blanks and other names of the same.
func respell(text string, r *rand.Rand) string {
	word, rest, _ := strings.Cut(text, " ")
	if r.IntN(2) == 0 {
		rest = absolute.ReplaceAllString(rest, "abs($1)")
	}
	rest = negative.ReplaceAllStringFunc(rest, func(s string) string {
		if m := negative.FindStringSubmatch(s); r.IntN(2) == 0 {
			return m[1] + "neg(" + m[2] + ")"
		}
		return s
	})
	if word == "s_waitcnt" {
		rest = strings.ReplaceAll(rest, " ", []string{" & ", ", ", "&", " "}[r.IntN(4)])
	}
	if !strings.Contains(rest, `"`) {
		rest = between.ReplaceAllStringFunc(rest, func(s string) string {
			switch r.IntN(4) {
			case 0:
				return " " + s
			case 1:
				return s + " "
			}
			return s
		})
	}
	if r.IntN(4) == 0 {
		word = strings.ToUpper(word)
	}
	return word + "  " + rest
}

var (
	absolute = regexp.MustCompile(`\|([^|]*)\|`)
	negative = regexp.MustCompile(`(^|, )-([vs][\d[][\d:\]]*)`)
)

var (
	assembled = regexp.MustCompile(`(?m); encoding: \[([^]]*)\]`)
	refused   = regexp.MustCompile(`(?m)^<stdin>:(\d+):\d+: error: (.*)$`)
)

// assembleLLVM is the bytes of each statement as llvm-mc assembles it, empty where it refuses.
func assembleLLVM(t *testing.T, mc string, wave64 bool, list []string) [][]byte {
	attr := "-mattr=+wavefrontsize32,-wavefrontsize64"
	if wave64 {
		attr = "-mattr=-wavefrontsize32,+wavefrontsize64"
	}
	c := exec.Command(mc, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1030", attr, "-show-encoding", "-no-warn")
	c.Stdin = strings.NewReader(strings.Join(list, "\n") + "\n")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.Output()
	if e := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &e) || e.ExitCode() < 0) {
		t.Fatal(err, stderr.String())
	}
	bad := make([]bool, len(list))
	for _, m := range refused.FindAllStringSubmatch(stderr.String(), -1) {
		n, _ := strconv.Atoi(m[1])
		bad[n-1] = true
	}
	encodings := assembled.FindAllStringSubmatch(string(stdout), -1)
	out := make([][]byte, len(list))
	for i := range list {
		if bad[i] {
			continue
		}
		if len(encodings) == 0 {
			t.Fatal("llvm-mc: fewer encodings than statements")
		}
		for x := range strings.SplitSeq(encodings[0][1], ",") {
			n, err := strconv.ParseUint(x, 0, 8)
			if err != nil {
				out[i] = nil // a fixup: an address
				break
			}
			out[i] = append(out[i], byte(n))
		}
		encodings = encodings[1:]
	}
	if len(encodings) > 0 {
		t.Fatal("llvm-mc: more encodings than statements")
	}
	return out
}

// assembleOurs is the bytes of a statement.
func assembleOurs(text string) ([]byte, error) {
	u, err := asm.Assemble(text)
	if err != nil {
		return nil, err
	}
	return u.Sections[0].Data, nil
}

// difference is a way in which our assembler differs from LLVM's on purpose.
type difference struct {
	outcome
	statement string // a regular expression
	why       string
}

// outcome is how an assembly compares with llvm-mc's.
type outcome int

const (
	equal   outcome = iota
	differs         // other bytes
	refuses         // what llvm-mc takes
	takes           // what llvm-mc refuses
)

var outcomes = []string{"equal", "other bytes than llvm-mc's", "refused, llvm-mc takes it", "taken, llvm-mc refuses it"}

// readOnly are the sources that no instruction writes.
const readOnly = `(src_)?(vccz|execz|scc|(shared|private)_(base|limit))`

var differences = []difference{
	{differs, `^v_cmpx?_class_f16.* -?(0x[\da-f]{5,}|\d{6,}|-\d{5,})`, "LLVM cuts off the upper half of the mask of classes without a word"},
	{differs, `^v_(ldexp_f16|cmpx?_class).*sext\(`, "LLVM makes the sign-extension a negation or drops it, here SDWA extends"},
	{refuses, `^\S+ ` + readOnly + `(,|$)|^v_\S*(_co_|div_scale_|mad_[ui]64|cndmask)\S* .*` + readOnly, "LLVM encodes a write to what is read only, and a status bit as a mask of lanes"},
	{refuses, `^v_(\S*_co_ci_|cndmask).* exec(_lo|_hi)?\b|\[exec_lo,exec_hi\]`, "LLVM's disassembler calls EXEC no mask of carries"},
	{refuses, `^(s_load|s_buffer_load|global|scratch|flat|s_movrel)\S* .*(` + readOnly + `|\b0\.0)`, "no base or offset of an address"},
	{refuses, `^(global|scratch)\S* .*\bnull\b`, "null as a scalar address is the code of no scalar address"},
	{refuses, `^s_(buffer_load|load|mem)\S* null\b`, "a load that keeps nothing"},
	{refuses, `^s_setreg_b32 .* ` + readOnly, "no source of mode bits"},
	{refuses, `lds_direct`, "reading LDS as a source is not simulated"},
	{refuses, `\bgds$`, "global data share is not simulated"},
	{refuses, `^(v_movrel\S*|v_nop\S*) .*(row_|dpp8|quad_perm|_sel:|dst_unused|clamp|sext)`, "encodings that the table leaves out"},
	{refuses, `^v_fma_mix`, "literals of v_fma_mix, whose type depends on op_sel_hi, are not simulated"},
	{refuses, `^v_div_scale_.*(\||abs\()`, "LLVM drops the absolute value: the encoding has no bits for it"},
	{refuses, `^buffer_atomic_\S+ .* dlc$`, "LLVM drops dlc: atomics of buffers have no bit for it"},
	{refuses, `^buffer_\S+ .*offset:(4096|65535|0xfffff)`, "LLVM keeps the 12 bits that fit without a word"},
	{refuses, `(row|bank)_mask:16`, "LLVM keeps the 4 bits that fit without a word"},
	{refuses, `^s_(nop|sleep|setprio|trap|denorm_mode|round_mode|inst_prefetch|waitcnt\S*|cbranch\S*|branch|barrier|clause|code_end|ttracedata\S*|icache_inv|endpgm|cmpk\S*|movk\S*|cmovk\S*|addk\S*|mulk\S*|call_b64|subvector\S*|setreg\S*|getreg\S*|version) `, "LLVM cuts off bits that do not fit 16, and takes the bits of floats"},
	{refuses, `--`, "LLVM reads a float behind two signs as the integer of its bits"},
	{refuses, `op_sel|neg_lo|neg_hi`, "LLVM drops the bits of sources that are not there"},
	{refuses, `sext\(`, "LLVM drops sext() where the encoding has no bit for it, or sets another"},
	{refuses, `^v_ldexp_f16`, "numbers beyond an operand of 16 bits"},
	{refuses, `^v_\S+[iu]16\S* .*(65535|0xffff)`, "65535 is no inline constant of 16 bits: it is not sign-extended here"},
	{takes, `^buffer_\S+ .*, scc\b`, "scc is a cache modifier of other GPUs there, the register src_scc"},
	{takes, `--|[(|][^(|]*[-+*/%&|~!<(]`, "an expression behind a sign means its number"},
	{takes, `(glc|slc),`, "commas between modifiers"},
	{takes, `^s_cmpk_\S+_u32 .*(-|~|0xf{16})`, "the low 16 bits of a negative number"},
	{takes, `^v_(\S*[iu]16|ldexp_f16)\S* .*-?(0\.|1e-)`, "inline constants that are floats in operands of 16 bits"},
}

// sampled is how many statements a place of an instruction gets if not all are asked for; whole is how many then.
const sampled, whole = 3, 24

// TestOracleSpellings: every form with operands of every kind, modifiers and spellings has the bytes of llvm-mc or is
// refused by both, but for the differences that are meant.
func TestOracleSpellings(t *testing.T) {
	oracle.Need(t, "llvm-mc-19")
	per := sampled
	if oracle.Whole() {
		per = whole
	}
	seen := make([]int, len(differences))
	var list []string
	r := rand.New(rand.NewPCG(21, 22))
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		for _, wave64 := range []bool{false, true} {
			list = append(list, statements(op.Form(), r, wave64, per)...)
		}
	}
	same := 0
	for part := range slices.Chunk(list, 20000) {
		// One source may hold kernels of both sizes of waves.
		theirs, wide := assembleLLVM(t, "llvm-mc-19", false, part), assembleLLVM(t, "llvm-mc-19", true, part)
		for i, text := range part {
			want := theirs[i]
			if want == nil {
				want = wide[i]
			}
			ours, err := assembleOurs(text)
			o := compared(want, ours, err)
			if o == equal {
				same++
				continue
			}
			if n := slices.IndexFunc(meant, func(m meaning) bool { return m.outcome == o && m.MatchString(text) }); n >= 0 {
				seen[n]++
				continue
			}
			t.Errorf("%s: %s: % x, %v; llvm-mc % x", text, outcomes[o], ours, err, want)
		}
	}
	require.Check(t, same > len(list)*9/10, "%d of %d are equal", same, len(list))
	t.Logf("%d of %d are equal", same, len(list))
	for i, d := range differences {
		t.Logf("%d %s: %s", seen[i], outcomes[d.outcome], d.why)
		require.Check(t, seen[i] > 0 || !oracle.Whole(), "no statement is %s because: %s", outcomes[d.outcome], d.why)
	}
}

// meaning is a difference with its expression compiled.
type meaning struct {
	outcome
	*regexp.Regexp
}

var meant = func() (list []meaning) {
	for _, d := range differences {
		list = append(list, meaning{d.outcome, regexp.MustCompile(d.statement)})
	}
	return list
}()

func compared(theirs, ours []byte, err error) outcome {
	switch {
	case theirs == nil && err == nil:
		return takes
	case theirs != nil && err != nil:
		return refuses
	case !bytes.Equal(theirs, ours):
		return differs
	}
	return equal
}
