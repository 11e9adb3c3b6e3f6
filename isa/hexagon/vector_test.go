package hexagon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// pipeFacts are the names that the extract of LLVM's tables has for HVX resources.
var pipeFacts = map[string]string{
	"": "-", "MPY0/MPY1/SHIFT/XLANE": "any1", "MPY0/MPY1": "mpy1", "MPY01": "mpy01", "MPY01/XLSHF": "dv", "SHIFT": "shift", "XLANE": "xlane",
	"XLSHF": "xlshf", "MPY0/MPY1 SHIFT/XLANE": "mpy1+shxl", "ALL": "all", "LD": "ld", "ST": "st",
	"LD MPY0/MPY1/SHIFT/XLANE": "ld+any1", "ST MPY0/MPY1/SHIFT/XLANE": "st+any1", "LD XLANE": "ld+xlane", "ST XLANE": "st+xlane",
	"LD MPY01/XLSHF": "ld+dv", "ST MPY01/XLSHF": "st+dv", "ALL_NOMEM": "all", "ZW": "zw",
}

// TestVectorFormsAgainstLLVM checks that the table has every HVX form to V66 with LLVM's class and resources, and that words of
// the others are named.
func TestVectorFormsAgainstLLVM(t *testing.T) {
	data := require.V(os.ReadFile(filepath.Join("testdata", "isa_v66.tsv")))(t)
	rows := map[string]int{}
	table := parseTable(t)
	for i := range table {
		rows[table[i].Name] = i
	}
	have, foreign := 0, 0
	for _, l := range strings.Split(string(data), "\n")[1:] {
		f := strings.Split(l, "\t")
		if len(f) < 8 || !strings.HasPrefix(f[0], "V6_") {
			continue
		}
		later := strings.Contains(f[3], "V68") || strings.Contains(f[3], "V69") || strings.Contains(f[3], "V73")
		if later {
			foreign++
			match, _ := strconv.ParseUint(f[5], 16, 32)
			_, _, err := DecodePacket([]uint32{uint32(match) | parseEnd<<parseShift}, 0)
			require.ErrorContains(t, err, "unsupported: "+f[0]+" needs ", f[0])
			continue
		}
		i, ok := rows[f[0]]
		if !ok {
			t.Errorf("%s is missing", f[0])
			continue
		}
		have++
		r := &table[i]
		_, units, _ := strings.Cut(f[6], " ")
		if r.Class != f[2] || pipeFacts[strings.TrimPrefix(units, "S1 ")] != r.Pipes {
			t.Errorf("%s: %s %s, extract %s %s", r.Name, r.Class, r.Pipes, f[2], units)
		}
	}
	t.Logf("%d forms, %d named only", have, foreign)
}
