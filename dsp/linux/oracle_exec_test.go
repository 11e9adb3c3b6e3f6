package linux

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
)

// TestOracleExec runs whole programs, assembled and compiled, in QEMU and in the core.
func TestOracleExec(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	root := shared.Path(t, "hexagon")
	data := t.TempDir() // the input of the harness
	r := rand.New(rand.NewSource(1))
	for name, n := range map[string]int{"state.bin": 4*128 + 32*128 + 128, "scratch.bin": 4096} {
		b := make([]byte, n)
		r.Read(b)
		require.NoError(t, os.WriteFile(filepath.Join(data, name), b, 0o644))
	}
	body := func(name string) []string { return []string{"-DBODY=\"" + name + "\"", "-I", root, "-I", data} }
	const program = "../../isa/hexagon/asm/testdata/program.c"
	for _, c := range []struct {
		src  string
		args []string
	}{
		{"hello.S", nil}, {"core.S", nil},
		{"harness.S", body("body1.inc")}, {"harness.S", body("body_misc.inc")}, {"harness.S", body("body_requant.inc")},
		{"gemm.c", []string{"-O3", "-ffreestanding", "-fno-builtin", "-DSZ=128", "-DREP=1"}},
		{"gemm.c", []string{"-O1", "-ffreestanding", "-fno-builtin", "-DSZ=128", "-DREP=1"}},
		{"testdata/float.c", []string{"-O2", "-ffreestanding"}}, {"testdata/float.c", []string{"-O0", "-ffreestanding"}},
		{program, []string{"-O0", "-ffreestanding"}}, {program, []string{"-O1", "-ffreestanding"}},
		{program, []string{"-O2", "-ffreestanding"}}, {program, []string{"-Os", "-ffreestanding"}},
	} {
		source := c.src
		if filepath.Dir(source) == "." {
			source = filepath.Join(root, source)
		}
		sameAsQEMU(t, crossCompile(t, source, c.args...))
	}
}

// TestOracleAssembled runs programs of our own assembler, with and without
// compounds and duplexes, in QEMU and in the core.
func TestOracleAssembled(t *testing.T) {
	oracle.Need(t, "qemu-hexagon")
	texts := map[string]string{"decisions": decisions}
	for _, name := range []string{"hello.S", "core.S"} {
		text := require.File(t, shared.Path(t, "hexagon", name))
		texts[name] = string(text)
	}
	for name, text := range texts {
		for _, separate := range []bool{false, true} {
			o := require.V(asm.AssembleObject(text, asm.Options{Base: 0x20000, Separate: separate}))(t, name)
			b := require.V(o.ELF())(t)
			path := filepath.Join(t.TempDir(), "p.elf")
			require.NoError(t, os.WriteFile(path, b, 0o755))
			sameAsQEMU(t, path)
		}
	}
}

func TestLoadELFErrors(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("\x7fELF"), bytes.Repeat([]byte{0x7f}, 100)} {
		require.Fails(t, require.Err(LoadELF(data)), data, "is accepted")
	}
}
