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

// statements is a form's instruction as the disassembler prints it, and in other spellings.
func statements(f *rdna2.Form, r *rand.Rand, wave64 bool) []string {
	in := rdna2.RandomInst(f, r, wave64)
	out := []string{in.Text(wave64)}
	for range 3 {
		in := rdna2.RandomInst(f, r, wave64)
		out = append(out, respell(in.Text(wave64), r))
	}
	return out
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

// TestOracleSpellings: every form in spellings of other blanks, functions for signs, and separators has the bytes of llvm-mc.
func TestOracleSpellings(t *testing.T) {
	oracle.Need(t, "llvm-mc-19")
	for _, wave64 := range []bool{false, true} {
		r := rand.New(rand.NewPCG(21, 22))
		var list []string
		for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
			list = append(list, statements(op.Form(), r, wave64)...)
		}
		read := 0
		for part := range slices.Chunk(list, 20000) {
			theirs := assembleLLVM(t, "llvm-mc-19", wave64, part)
			for i, text := range part {
				if theirs[i] == nil {
					continue
				}
				read++
				ours, err := assembleOurs(text)
				require.Check(t, err == nil && bytes.Equal(theirs[i], ours), "%s: % x, %v; llvm-mc % x", text, ours, err, theirs[i])
			}
		}
		require.Check(t, read > len(list)*9/10, "llvm-mc reads %d of %d", read, len(list))
	}
}
