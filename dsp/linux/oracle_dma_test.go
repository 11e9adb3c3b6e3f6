package linux

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
)

// dmaProgram moves a line of text by DMA and writes it out.
const dmaProgram = `
	.globl _start
_start:
	{ r0 = ##desc ; r1 = ##src }
	{ memw(r0+#8) = r1 ; r2 = ##dst }
	{ memw(r0+#12) = r2 ; r3 = #16 }
	{ memw(r0+#4) = r3 }
	dmstart(r0)
	r4 = dmwait
	{ r0 = #1 ; r1 = ##dst }
	{ r2 = #16 ; r6 = #64 }
	trap0(#1)
	{ r0 = r4 ; r6 = #94 }
	trap0(#1)
	.data
	.p2align 5
desc: .word 0, 0, 0, 0
src: .ascii "moved by engine\n"
	.p2align 5
dst: .space 32
`

// TestOracleV68Program: a program compiled by clang for V68 runs on a V68 core, and stops with the name of the
// instruction on a V66 core. QEMU has no user DMA.
func TestOracleV68Program(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19")
	dir := t.TempDir()
	src, obj, exe := filepath.Join(dir, "p.S"), filepath.Join(dir, "p.o"), filepath.Join(dir, "p.elf")
	require.NoError(t, os.WriteFile(src, []byte(dmaProgram), 0o644))
	for _, cmd := range []*exec.Cmd{
		exec.Command("clang-19", "-target", "hexagon-unknown-linux-musl", "-mv68", "-mhvx=v68", "-mhvx-length=128B", "-nostdlib", "-c", "-o", obj, src),
		exec.Command("ld.lld-19", "-m", "hexagonelf", "-static", "-o", exe, obj),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%.2000s", cmd.Args, err, out)
		}
	}
	data := require.V(os.ReadFile(exe))(t)
	for _, preset := range []string{"sd888", "pixel4"} {
		core := newCold(t, preset)
		im := require.V(LoadELF(data))(t)
		var out bytes.Buffer
		p := &Process{Image: im, Args: []string{exe}, Stdout: &out, Stderr: &out}
		_, err := core.Exec([]*Process{p}, dsp.Options{})
		if preset == "pixel4" {
			require.ErrorContains(t, err, "dmstart", "V66")
			continue
		}
		if err != nil || out.String() != "moved by engine\n" || p.Status != 0 {
			t.Errorf("V68: %q, status %d, %v", out.String(), p.Status, err)
		}
	}
}
