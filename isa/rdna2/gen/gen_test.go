package main

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestUpToDate fails when ops.txt changed without go generate.
func TestUpToDate(t *testing.T) {
	goSrc, md := require.V2(generate("../ops.txt"))(t)
	for _, f := range []struct {
		path string
		want []byte
	}{{"../zops.go", goSrc}, {"../../../docs/isa/rdna2.md", md}} {
		got := require.File(t, f.path)
		if !bytes.Equal(got, f.want) {
			t.Errorf("%s is stale: run go generate ./isa/rdna2", f.path)
		}
	}
}

// TestTableErrors: a broken table is refused with its line or form.
func TestTableErrors(t *testing.T) {
	head := "== A\nx | int | y\n"
	for _, c := range []struct{ src, want string }{
		{"x | valu | y\n", "line 1"},
		{"== A\n  F f SOP2 0x0 -\n", "line 2"},
		{head + "  F f SOP2\n", "line 3"},
		{head + "  F f SOP2 0x999 -\n", "F: no opcode"},
		{head + "  F f SOP2 0x0 sdst:q1\n", "F: unknown operand class"},
		{head + "  F f SOP2 0x0 what:s1\n", "F: unknown role"},
		{head + "  F f SOP2 0x0 sdst:s1 ; odd\n", "F: unknown flag"},
		{head + "  F f SOP2 0x0 sdst:s1\n  F g SOP2 0x1 sdst:s1\n", "F: defined twice"},
		{head + "  F f SOP2 0x0 sdst:s1\n  H g SOP2 0x1 sdst:s1\n  G g SOP2 0x0 sdst:s1\n", "G: opcode taken"},
		{"== A\nx | warp | y\n", "x: unknown class"},
	} {
		secs, err := parse([]byte(c.src))
		if err == nil {
			_, err = emit(secs)
		}
		require.ErrorContains(t, err, c.want, c.src)
	}
}
