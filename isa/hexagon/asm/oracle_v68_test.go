package asm

import (
	"math/rand"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/randpacket"
)

// TestOracleV68 compares the forms that V66 lacks with llvm-mc for V68: it accepts our text and produces our bytes.
func TestOracleV68(t *testing.T) {
	oracle.Need(t, mcName)
	g := randpacket.New(rand.New(rand.NewSource(68)))
	encoding := regexp.MustCompile(`encoding: \[(0x..),(0x..),(0x..),(0x..)\]`)
	n := 0
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op++ {
		for k := 0; k < 20 && op.Form().Has(hexagon.FlagV68); k++ {
			p := g.Carrier(op, 0)
			words := require.V(p.Encode(nil))(t)
			cmd := exec.Command(mcName, "-arch=hexagon", "-mcpu=hexagonv68", "-show-encoding")
			cmd.Stdin = strings.NewReader(p.Asm() + "\n")
			out, err := cmd.CombinedOutput()
			m := encoding.FindStringSubmatch(string(out))
			if err != nil || m == nil || len(words) != 1 {
				t.Fatalf("%s: %v\n%s", p.Asm(), err, out)
			}
			var w uint32
			for i := range 4 {
				b, _ := strconv.ParseUint(m[1+i], 0, 8)
				w |= uint32(b) << (8 * i)
			}
			if w != words[0] {
				t.Errorf("%s: %#08x, llvm-mc %#08x", p.Asm(), words[0], w)
			}
			n++
		}
	}
	require.Same(t, 6*20, n, "packets compared")
}
