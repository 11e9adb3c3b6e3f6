package asm

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

// compiled builds a C or assembly file and returns clang's assembly text and the linked executable.
func compiled(t *testing.T, src string, flags ...string) (text string, exe []byte) {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	flags = append([]string{"-target", "hexagon-unknown-linux-musl", "-mv66", "-mhvx=v66", "-mhvx-length=128B", "-ffreestanding", "-fno-builtin", "-nostdlib"}, flags...)
	for _, c := range [][]string{
		append(append([]string{"clang-19"}, flags...), "-S", "-o", at("p.s"), src),
		append(append([]string{mcName}, joiningArgs()...), "-o", at("p.o"), at("p.s")),
		{"ld.lld-19", "-m", "hexagonelf", "-static", "--section-start", ".text=0x20000", "-o", at("p.elf"), at("p.o")},
	} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%.2000s", c, err, out)
		}
	}
	s, err := os.ReadFile(at("p.s"))
	if err == nil {
		exe, err = os.ReadFile(at("p.elf"))
	}
	require.NoError(t, err)
	return string(s), exe
}

var symbolNote = regexp.MustCompile(` <[^>]*>`)

// TestOracleAssembler runs assembler and disassembler on a compiler's output: its assembly must become the bytes of
// llvm-mc and the linker, our listing must be llvm-objdump's, and our source must become the same bytes.
func TestOracleAssembler(t *testing.T) {
	oracle.Need(t, "clang-19", mcName, objdumpName, "ld.lld-19")
	type source struct {
		path string
		data bool // addresses of data differ from the linker's
	}
	sources := []source{{filepath.Join("testdata", "program.c"), false}}
	if gemm := filepath.Join(shared.Dir(), "hexagon", "gemm.c"); exists(gemm) {
		sources = append(sources, source{gemm, true})
	}
	for _, src := range sources {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			text, exe := compiled(t, src.path, level, "-DSZ=128", "-DREP=1")
			name := filepath.Base(src.path) + " " + level
			code := require.V(object.ReadELF(exe))(t)
			c := &code[0]
			o := require.V(AssembleObject(text, Options{Base: c.Addr}))(t, name)
			if got := o.Code()[0].Data; !src.data && !bytes.Equal(got, c.Data) || len(got) != len(c.Data) {
				t.Errorf("%s: clang's text becomes other bytes than llvm-mc's: %s", name, firstDifference(got, c.Data))
			}
			plain := require.V(AssembleObject(text, Options{Base: c.Addr, Separate: true}))(t, name)
			for _, c := range []*object.Code{c, &plain.Code()[0]} {
				var again bytes.Buffer
				require.NoError(t, Source(c, &again))
				o := require.V(AssembleObject(again.String(), Options{Base: c.Addr}))(t, name)
				if got := o.Code()[0].Data; !bytes.Equal(got, c.Data) {
					t.Errorf("%s: our source becomes other bytes: %s", name, firstDifference(got, c.Data))
				}
				if strings.Contains(again.String(), ".word") {
					t.Errorf("%s: words without text in\n%s", name, again.String())
				}
			}
			var list bytes.Buffer
			require.NoError(t, c.List(&list))
			path := filepath.Join(t.TempDir(), "p.elf")
			require.NoError(t, os.WriteFile(path, exe, 0o644))
			out := require.V(exec.Command(objdumpName, "-d", "--mcpu=hexagonv66", "--mattr=+hvxv66,+hvx-length128b", path).Output())(t)
			_, theirs, _ := strings.Cut(string(out), "section .text:\n")
			ours := strings.Split(list.String(), "\n")
			for i, want := range strings.Split(theirs, "\n") {
				if i >= len(ours) || strings.HasSuffix(want, ">:") && ours[i] != want || !strings.HasSuffix(want, ">:") && symbolNote.ReplaceAllString(ours[i], "") != want {
					t.Errorf("%s, line %d: ours %q, llvm-objdump %q", name, i, ours[min(i, len(ours)-1)], want)
					break
				}
			}
		}
	}
}

// TestOracleSources: macros, conditions, data and rare spellings become the bytes that llvm-mc and the linker make.
func TestOracleSources(t *testing.T) {
	oracle.Need(t, mcName, "ld.lld-19")
	sources, err := filepath.Glob(filepath.Join("testdata", "*.s"))
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	for _, src := range sources {
		text := require.File(t, src)
		o, err := AssembleObject(string(text), Options{Base: 0x20000})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		at := func(name string) string { return filepath.Join(t.TempDir(), name) }
		obj, exe := at("p.o"), at("p.elf")
		link := []string{"ld.lld-19", "-m", "hexagonelf", "-static", "-e", "0", "-o", exe, obj}
		for _, s := range o.Segments {
			link = append(link, fmt.Sprintf("--section-start=%s=%#x", s.Name, s.Addr))
		}
		for _, c := range [][]string{append(append([]string{mcName}, joiningArgs()...), "-o", obj, src), link} {
			if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%.2000s", c, err, out)
			}
		}
		f := require.V(elf.Open(exe))(t)
		for _, s := range o.Segments {
			want := []byte(nil)
			if theirs := f.Section(s.Name); theirs != nil && s.Data != nil {
				if want, err = theirs.Data(); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(s.Data, want) {
				t.Errorf("%s: %s has other bytes than llvm-mc's:\n%x\n%x", src, s.Name, s.Data, want)
			}
		}
		f.Close()
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func firstDifference(got, want []byte) string {
	a, b := hexagon.Words(got), hexagon.Words(want)
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			p, _, _ := hexagon.DecodePacket(a[i:], uint32(4*i))
			q, _, _ := hexagon.DecodePacket(b[min(i, len(b)):], uint32(4*i))
			return "at word " + p.String() + " for " + q.String()
		}
	}
	return "length"
}
