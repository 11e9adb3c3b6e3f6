package launch

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
)

// Programs of TestOracleRandomPrograms unless the variable NNSOC_PROGRAMS has another number.
const (
	programsVariable = "NNSOC_PROGRAMS"
	fewPrograms      = 40
	programsPerFile  = 20
)

// randomPrelude is the code that random programs need beside wi.h.
const randomPrelude = `#include "wi.h"
static inline uint BITS(float f) { union { float f; uint u; } x = {f}; return f != f ? 0x7FC00000u : f == 0 ? 0 : x.u; }
static inline uint HBITS(half h) { union { half h; u16 u; } x = {h}; return h != h ? 0x7E00u : h == 0 ? 0 : x.u; }
static inline uint TOINT(float f) { return f > -2000000000.f && f < 2000000000.f ? (uint)(int)f : 77u; }
`

// TestOracleRandomPrograms: random structured C programs that clang compiles for gfx1030, at each
// optimization level and wave size, leave the same words as on the host.
func TestOracleRandomPrograms(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19")
	n := fewPrograms
	if s := os.Getenv(programsVariable); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			t.Fatalf("%s=%s: want a number of programs", programsVariable, s)
		}
	}
	levels := [][]string{{"-O2"}, {"-O0"}, {"-O1", "-mwavefrontsize64"}, {"-O3"}, {"-Os", "-mwavefrontsize64"}}
	for first := 0; first < n; first += programsPerFile {
		flags := levels[first/programsPerFile%len(levels)]
		t.Run(fmt.Sprintf("%d %s", first, strings.Join(flags, " ")), func(t *testing.T) {
			randomFile(t, first, min(first+programsPerFile, n), flags)
		})
	}
}

// randomFile compiles and compares the programs of some seeds.
func randomFile(t *testing.T, first, end int, flags []string) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString(randomPrelude)
	sources := map[string]string{}
	for seed := first; seed < end; seed++ {
		name := fmt.Sprintf("k%d", seed)
		sources[name] = randomKernel(name, uint64(seed))
		text.WriteString(sources[name])
	}
	src, exe, co := filepath.Join(dir, "k.cl"), filepath.Join(dir, "host"), filepath.Join(dir, "k.co")
	require.NoError(t, os.WriteFile(src, []byte(text.String()), 0o666))
	include := []string{"-I", "testdata/kernels", "-ffp-contract=off", "-w"}
	build(t, slices.Concat(include, []string{"-x", "c", "-DHOST", "-O1", "-rdynamic", "-o", exe, src, "testdata/kernels/host.c", "-x", "none", "-ldl"})...)
	build(t, slices.Concat(include, clangGPU, flags, []string{"-o", co, src})...)
	f := read(t, co, false)
	for seed := first; seed < end; seed++ {
		k := testKernel{name: fmt.Sprintf("k%d", seed), groups: [3]int{5, 1, 1}, block: [3]int{64, 1, 1}, n: 5*64 - 5}
		want := onHost(t, exe, k)
		if bytes.Equal(want, pattern()) {
			t.Fatalf("seed %d: the host's program leaves nothing", seed)
		}
		for _, functional := range []bool{true, false} {
			got, err := runTest(t, f, k, functional)
			if err == nil {
				err = compareWords(got, want, 0)
			}
			if err != nil {
				t.Errorf("seed %d %v (functional %v): %v\n%s", seed, flags, functional, err, sources[k.name])
				break
			}
		}
	}
}

// onHost runs a kernel on x86-64.
func onHost(t *testing.T, exe string, k testKernel) []byte {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for i, b := range [][]byte{inputs(1), inputs(2), pattern()} {
		f := filepath.Join(dir, fmt.Sprint("buf", i))
		require.NoError(t, os.WriteFile(f, b, 0o666))
		files = append(files, f)
	}
	args := []string{k.name}
	for _, v := range append(append(k.groups[:], k.block[:]...), k.n) {
		args = append(args, strconv.Itoa(v))
	}
	if msg, err := exec.Command(exe, append(args, files...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s on the host: %v %s", k.name, err, msg)
	}
	b := require.File(t, files[2])
	return b
}
