package rdna2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestIgnoredBits: bits that an instruction does not read may be set otherwise, as assemblers other than LLVM's do.
func TestIgnoredBits(t *testing.T) {
	for _, c := range []struct {
		words []uint32
		want  string
	}{
		{[]uint32{0xcc0f0002, 0x18020301}, "v_pk_add_f16 v2, v1, v1"},           // SP3: op_sel_hi of the absent third source clear
		{[]uint32{0xd5030801, 0x00020501}, "v_add_f32_e64 v1, v1, v2"},          // op_sel of 32 bits
		{[]uint32{0xd4110000, 0x00020501}, "v_cmpx_lt_f32_e64 v1, v2"},          // the destination is EXEC whatever it says
		{[]uint32{0xdc708000, 0x55000201}, "global_store_dword v1, v2, s[0:1]"}, // ACO: a destination of a store
		{[]uint32{0xd8350004, 0x00000201}, "ds_write_b32 v1, v2 offset:4"},
		{[]uint32{0x87040300 | 1<<23, 0}, "s_and_b64 s[4:5], s[0:1], s[2:3]"}, // odd pairs begin at the even register
	} {
		in, _, err := Decode(c.words)
		require.NoError(t, err, fmt.Sprintf("%08x", c.words))
		require.Same(t, c.want, in.Text(false), fmt.Sprintf("%08x", c.words))
	}
	r := rand.New(rand.NewPCG(3, 4))
	for op := Op(1); op < NumOps; op++ {
		f := op.Form()
		for range 3 {
			in := randomInst(f, r, false)
			b := require.V(in.Encode(nil))(t)
			w := words(b)
			for bit := range 64 {
				n := bit / 32
				if f.Bytes < 8 && n > 0 || f.ignored(word64(w))>>bit&1 == 0 {
					continue
				}
				w[n] ^= 1 << (bit % 32)
				got, used, err := Decode(w)
				require.Check(t, err == nil && used == len(w) && got == in, "%s: bit %d: %q, %v", in.Text(false), bit, got.Text(false), err)
				w[n] ^= 1 << (bit % 32)
			}
		}
	}
}

func word64(w []uint32) uint64 {
	if len(w) > 1 {
		return uint64(w[0]) | uint64(w[1])<<32
	}
	return uint64(w[0])
}

// TestStaysInStep: an instruction that is not known is stepped over with all its words.
func TestStaysInStep(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []uint32
		n     int
	}{
		{"reserved bit", []uint32{0xd5030400 | 1<<10, 0x00020501}, 2},
		{"image with addresses", []uint32{0xf0800f0a, 0x00000100, 0x00000302}, 3},
		{"export", []uint32{0xf8000801, 0x03020100}, 2},
		{"cut", []uint32{0xf8000801}, 1},
		{"scalar", []uint32{0xbeff0000}, 1},
	} {
		_, n, err := Decode(c.words)
		require.Check(t, err != nil && n == c.n, "%s: %d words, %v", c.name, n, err)
	}
}

var listed = regexp.MustCompile(`^\s*(.*?)\s*; encoding: \[`)

// disassembled is LLVM's text of each of the instructions, each given by its bytes; empty where it knows none. The tool
// dies of some invalid encodings: half the list is asked then, and the other half.
func disassembled(t *testing.T, mc string, list [][]byte) []string {
	const mark = 0x5a000000
	out := make([]string, len(list))
	var in bytes.Buffer
	for i, b := range list {
		b = append(bytes.Clone(b), bytes.Repeat([]byte{0, 0, 0x80, 0xbf}, 4)...) // s_nop, for literals
		b = binary.LittleEndian.AppendUint32(append(b, 0xff, 0x03, 0x80, 0xbe), uint32(mark+i))
		for _, x := range b {
			fmt.Fprintf(&in, "%#02x ", x)
		}
		in.WriteByte('\n')
	}
	c := exec.Command(mc, "-disassemble", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-show-encoding")
	c.Stdin, c.Env = &in, append(os.Environ(), "LLVM_DISABLE_CRASH_REPORT=1", "LLVM_DISABLE_SYMBOLIZATION=1")
	text, err := c.Output()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	} else if err != nil && e.ExitCode() < 0 {
		if len(list) == 1 {
			return out
		}
		half := len(list) / 2
		return append(disassembled(t, mc, list[:half]), disassembled(t, mc, list[half:])...)
	}
	first := ""
	for line := range strings.Lines(string(text)) {
		m := listed.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if at, ok := strings.CutPrefix(m[1], "s_mov_b32 s0, 0x5a"); ok {
			if n, err := strconv.ParseUint(at, 16, 32); err == nil && int(n) < len(list) {
				out[n], first = first, ""
				continue
			}
		}
		if first == "" {
			first = m[1]
		}
	}
	return out
}

// TestOracleIgnoredBits flips every bit of an instruction of each sixteenth form (LLVM takes a minute for them). Where LLVM's
// disassembler prints the text that it had before, so does ours.
func TestOracleIgnoredBits(t *testing.T) {
	oracle.Need(t)
	mc := tool(t, "llvm-mc-19")
	r := rand.New(rand.NewPCG(5, 6))
	type flip struct {
		in   Inst
		bit  int
		code []byte
	}
	var flips []flip
	var list [][]byte
	for op := Op(1); op < NumOps; op++ {
		if r.IntN(16) > 0 {
			continue
		}
		in := randomInst(op.Form(), r, false)
		b := require.V(in.Encode(nil))(t)
		for bit := -1; bit < 8*int(op.Form().Bytes); bit++ {
			code := bytes.Clone(b)
			if bit >= 0 {
				code[bit/8] ^= 1 << (bit % 8)
			}
			flips, list = append(flips, flip{in, bit, code}), append(list, code)
		}
	}
	var texts []string
	for part := range slices.Chunk(list, 2000) {
		texts = append(texts, disassembled(t, mc, part)...)
	}
	same, whole := 0, ""
	for i, f := range flips {
		if f.bit < 0 {
			whole = texts[i]
			require.Check(t, whole == f.in.Text(false), "%q is %q in LLVM", f.in.Text(false), whole)
			continue
		}
		if texts[i] != whole {
			continue
		}
		same++
		got, _, err := Decode(words(f.code))
		require.Check(t, err == nil && got.Text(false) == whole, "%s: bit %d: %q, %v", whole, f.bit, got.Text(false), err)
	}
	require.Check(t, same > 150, "only %d bits that LLVM ignores", same)
}
