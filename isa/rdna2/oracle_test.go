package rdna2

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
)

func tool(t *testing.T, name string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("skipped: needs %s", name)
	}
	return p
}

var objdumpLine = regexp.MustCompile(`(?m)^\t(.*?)\s*// [0-9A-F]+: ([0-9A-F ]+?)(?: <.*>)?$`)

// TestOracleLLVM: for every form with random operands, LLVM disassembles our
// bytes to our text and assembles our text to our bytes.
func TestOracleLLVM(t *testing.T) {
	oracle.Need(t)
	mc, objdump := tool(t, "llvm-mc-19"), tool(t, "llvm-objdump-19")
	for _, wave64 := range []bool{false, true} {
		t.Run(fmt.Sprintf("wave64=%v", wave64), func(t *testing.T) {
			attr := "+wavefrontsize32,-wavefrontsize64"
			if wave64 {
				attr = "-wavefrontsize32,+wavefrontsize64"
			}
			r := rand.New(rand.NewPCG(11, 12))
			var insts []Inst
			for op := Op(1); op < NumOps; op++ {
				for range 6 {
					insts = append(insts, randomInst(op.Form(), r, wave64))
				}
			}
			dir := t.TempDir()
			var asm, raw bytes.Buffer
			var codes [][]byte
			for i := range insts {
				b := require.V(insts[i].Encode(nil))(t)
				codes = append(codes, b)
				asm.WriteString(insts[i].Text(wave64) + "\n")
				raw.WriteString(".byte ")
				for j, x := range b {
					if j > 0 {
						raw.WriteByte(',')
					}
					fmt.Fprintf(&raw, "%d", x)
				}
				raw.WriteByte('\n')
			}
			assemble := func(name string, src []byte) string {
				s, o := filepath.Join(dir, name+".s"), filepath.Join(dir, name+".o")
				require.NoError(t, os.WriteFile(s, src, 0o666))
				out, err := exec.Command(mc, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-mattr="+attr, "-filetype=obj", "-o", o, s).CombinedOutput()
				if err != nil {
					if len(out) > 4000 {
						out = out[:4000]
					}
					t.Fatalf("llvm-mc: %v\n%s", err, out)
				}
				return o
			}
			dump := func(o string) [][2]string {
				out := require.V(exec.Command(objdump, "-d", "--mcpu=gfx1030", "--mattr="+attr, o).Output())(t, "llvm-objdump")
				var l [][2]string
				for _, m := range objdumpLine.FindAllStringSubmatch(string(out), -1) {
					l = append(l, [2]string{strings.TrimSpace(m[1]), m[2]})
				}
				return l
			}
			hex := func(b []byte) string {
				var s []string
				for _, w := range words(b) {
					s = append(s, fmt.Sprintf("%08X", w))
				}
				return strings.Join(s, " ")
			}
			check := func(what string, lines [][2]string, cmpText bool) {
				if len(lines) != len(insts) {
					t.Errorf("%s: %d lines for %d instructions", what, len(lines), len(insts))
				}
				bad := 0
				for i := range min(len(lines), len(insts)) {
					text, want := insts[i].Text(wave64), hex(codes[i])
					if lines[i][1] != want || cmpText && lines[i][0] != text {
						t.Errorf("%s: %s: ours %q %s, llvm %q %s", what, insts[i].Op, text, want, lines[i][0], lines[i][1])
						if bad++; bad > 25 {
							return
						}
					}
				}
			}
			check("objdump", dump(assemble("raw", raw.Bytes())), true)
			check("mc", dump(assemble("asm", asm.Bytes())), true)
		})
	}
}

// TestOracleCompiled: OpenCL kernels compiled by clang decode to the text that LLVM prints, in both wave sizes.
func TestOracleCompiled(t *testing.T) {
	oracle.Need(t)
	clang, ld, objdump := tool(t, "clang-19"), tool(t, "ld.lld-19"), tool(t, "llvm-objdump-19")
	sources := shared.Glob(t, "rdna2", "k", "*.cl")
	for _, src := range sources {
		for _, wave64 := range []bool{false, true} {
			name := fmt.Sprintf("%s/wave64=%v", filepath.Base(src), wave64)
			o := filepath.Join(t.TempDir(), "k")
			args := strings.Fields(`-x cl -cl-std=CL2.0 -Xclang -finclude-default-header -target amdgcn-amd-amdhsa -mcpu=gfx1030
				-nogpulib -O3 -mcode-object-version=5 -Xclang -target-feature -Xclang +enable-flat-scratch -mllvm -amdgpu-sdwa-peephole=0`)
			attr := "-wavefrontsize64"
			if wave64 {
				args = append(args, "-mwavefrontsize64", "-DW64")
				attr = "+wavefrontsize64"
			}
			if out, err := exec.Command(clang, append(args, "-c", "-o", o+".o", src)...).CombinedOutput(); err != nil {
				t.Fatalf("%s: clang: %v\n%s", name, err, out)
			}
			if out, err := exec.Command(ld, "-shared", "--no-undefined", "-o", o+".co", o+".o").CombinedOutput(); err != nil {
				t.Fatalf("%s: ld.lld: %v\n%s", name, err, out)
			}
			out, err := exec.Command(objdump, "-d", "--mcpu=gfx1030", "--mattr="+attr, o+".co").Output()
			require.NoError(t, err, name, "llvm-objdump")
			n := 0
			for _, m := range objdumpLine.FindAllStringSubmatch(string(out), -1) {
				var code []uint32
				for _, w := range strings.Fields(m[2]) {
					var x uint32
					fmt.Sscanf(w, "%X", &x)
					code = append(code, x)
				}
				in, used, err := Decode(code)
				if err != nil || used != len(code) || in.Text(wave64) != strings.TrimSpace(m[1]) {
					t.Errorf("%s: %s decodes to %q, %v; llvm %q", name, m[2], in.Text(wave64), err, m[1])
				}
				n++
			}
			if n < 50 {
				t.Errorf("%s: only %d instructions", name, n)
			}
		}
	}
}
