package asm

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestGoldenPackets assembles a readable list of packets and compares their words.
func TestGoldenPackets(t *testing.T) {
	path := filepath.Join("testdata", "packets.txt")
	data := require.V(os.ReadFile(path))(t)
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			out.WriteString(line + "\n")
			continue
		}
		text, want, _ := strings.Cut(line, " // ")
		p, err := ParsePacket(text, 0)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, i+1, err)
		}
		words, err := p.Encode(nil)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, i+1, err)
		}
		got := strings.Trim(fmt.Sprintf("%08x", words), "[]")
		if got != want && !*update {
			t.Errorf("%s:%d: %s\n got %s\nwant %s", path, i+1, text, got, want)
		}
		fmt.Fprintf(&out, "%s // %s\n", text, got)
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o644))
	}
}
