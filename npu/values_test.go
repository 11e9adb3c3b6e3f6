package npu

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

var (
	eltModes = map[string]int{"mul": ethosu.EltMul, "add": ethosu.EltAdd, "sub": ethosu.EltSub, "min": ethosu.EltMin, "max": ethosu.EltMax,
		"lrelu": ethosu.EltLRelu, "abs": ethosu.EltAbs, "clz": ethosu.EltClz, "shr": ethosu.EltShr, "shl": ethosu.EltShl}
	eltRounds = map[string]int{"double": ethosu.RoundDouble, "truncate": ethosu.RoundTruncate, "natural": ethosu.RoundNatural}
	eltSizes  = map[string]int{"s8": 1, "u8": 1, "s16": 2, "s32": 4}
)

// eltGroup is rows of testdata/elementwise.txt for one set of parameters.
type eltGroup struct {
	line int
	elt
	want []int32
}

// readElementwise reads the table.
func readElementwise(t *testing.T) (groups []*eltGroup) {
	t.Helper()
	b := require.V(os.ReadFile("testdata/elementwise.txt"))(t)
	number := func(s string) int {
		v := require.V(strconv.Atoi(s))(t)
		return v
	}
	for i, line := range strings.Split(string(b), "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case line[0] == ' ' && len(groups) > 0:
			g := groups[len(groups)-1]
			g.a = append(g.a, int32(number(f[0])))
			if len(f) == 4 {
				g.b = append(g.b, int32(number(f[1])))
			}
			g.want = append(g.want, int32(number(f[len(f)-1])))
		default:
			g := &eltGroup{line: i + 1}
			var ok [4]bool
			g.mode, ok[0] = eltModes[f[0]]
			g.esz, ok[1] = eltSizes[f[1]]
			g.osz, ok[2] = eltSizes[f[2]]
			g.round, ok[3] = eltRounds[f[3]]
			if ok != [4]bool{true, true, true, true} {
				t.Fatalf("line %d: %s", i+1, line)
			}
			g.signed, g.scale = f[1][0] == 's', 1
			fields := map[string]func(int){
				"scale": func(v int) { g.scale = uint32(v) }, "shift": func(v int) { g.shift = v }, "opa": func(v int) { g.opa = uint32(v) },
				"opashift": func(v int) { g.opaShift = v }, "opb": func(v int) { g.opb = uint32(v) }, "scalemode": func(v int) { g.scaleMode = v },
				"zp": func(v int) { g.zp = v }, "zp2": func(v int) { g.zp2 = v }, "ozp": func(v int) { g.ozp = v }, "lo": func(v int) { g.lo = v }, "hi": func(v int) { g.hi = v },
			}
			for _, kv := range f[4:] {
				k, v, _ := strings.Cut(kv, "=")
				if fields[k] == nil {
					t.Fatalf("line %d: %s", i+1, kv)
				}
				fields[k](number(v))
			}
			groups = append(groups, g)
		}
	}
	return groups
}

// TestElementwiseValues runs the table. Every operation has rows, those that round in every mode.
func TestElementwiseValues(t *testing.T) {
	core := mustCore(t, "ethos-u55-128")
	covered := map[string]bool{}
	for _, g := range readElementwise(t) {
		got, err := g.run(t, core)
		if err != nil {
			t.Errorf("line %d: %v", g.line, err)
			continue
		}
		for i := range got {
			if got[i] != g.want[i] {
				b := int32(0)
				if len(g.b) > 0 {
					b = g.b[i]
				}
				t.Errorf("line %d: %d, %d give %d, want %d", g.line+1+i, g.a[i], b, got[i], g.want[i])
			}
		}
		covered[fmt.Sprint(g.mode)], covered[fmt.Sprint(g.mode, g.round)] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(eltModes)) {
		mode := eltModes[name]
		if !covered[fmt.Sprint(mode)] {
			t.Errorf("%s has no rows", name)
		}
		for round, r := range eltRounds {
			switch mode {
			case ethosu.EltMin, ethosu.EltMax, ethosu.EltClz, ethosu.EltShl: // nothing to round
			default:
				if !covered[fmt.Sprint(mode, r)] {
					t.Errorf("%s has no rows that round %s", name, round)
				}
			}
		}
	}
	if len(eltModes) != ethosu.NumElt {
		t.Errorf("%d operations, the instruction set has %d", len(eltModes), ethosu.NumElt)
	}
}
