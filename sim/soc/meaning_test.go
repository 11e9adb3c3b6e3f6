package soc

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
)

// schemaKeys lists the numbers that a file may have, with [] for an index, and whether a preset has them. Energies of
// events, which are not fields, come from the presets.
func schemaKeys(t *testing.T) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer:
			walk(path, typ.Elem())
		case reflect.Slice, reflect.Array:
			walk(path+"[]", typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				if name := typ.Field(i).Tag.Get("toml"); name != "-" {
					walk(join(path, name), typ.Field(i).Type)
				}
			}
		case reflect.Int, reflect.Float64:
			keys[path] = false
		}
	}
	walk("", reflect.TypeFor[Config]())
	for _, preset := range Presets() {
		for _, k := range require.V(Keys(preset))(t) {
			keys[index.ReplaceAllString(k.Path, "[]")] = true
		}
	}
	return keys
}

// TestMeanings holds that each number has a sentence and a unit, and that each row of the table is of a number.
func TestMeanings(t *testing.T) {
	keys := schemaKeys(t)
	require.Check(t, len(keys) > 350, "only %d keys", len(keys))
	used := map[string]bool{}
	for key, written := range keys {
		governed := strings.Contains(key, "governor.")
		m, ok := MeaningOf(key)
		if !ok && governed && !written {
			continue // a key of another kind of governor
		}
		require.Check(t, ok && m.Unit != "" && strings.HasSuffix(m.Text, "."), "%s has unit %q and meaning %q", key, m.Unit, m.Text)
		for pattern := range meaningRows() {
			if suffix, any := strings.CutPrefix(pattern, "*"); pattern == key || any && strings.HasSuffix(key, suffix) {
				used[pattern] = true
			}
		}
	}
	for pattern := range meaningRows() {
		require.Check(t, used[pattern], "%s is no key", pattern)
	}
}

func TestMeaningOf(t *testing.T) {
	for key, unit := range map[string]string{"npu.ublock[2]": "-", "gpu.l2.kib": "KiB", "host.clean_us[1][0]": "KiB", "host.clean_us[1][1]": "us", "thermal.rule[0].steps[1][2]": "MHz", "dram.mt_per_s": "MT/s"} {
		m, ok := MeaningOf(key)
		require.Check(t, ok && m.Unit == unit, "%s: %v, unit %q, want %q", key, ok, m.Unit, unit)
	}
	if m, ok := MeaningOf("npu.no_such"); ok {
		t.Errorf("a key that is none means %q", m.Text)
	}
	if m, _ := MeaningOf("gpu.l2.kib"); !strings.Contains(m.Text, "L2") {
		t.Errorf("the row of gpu.l2.kib gives way to %q", m.Text)
	}
}

func TestExplain(t *testing.T) {
	keys := require.V(Explain("pixel4", "npu.ublock"))(t)
	require.Same(t, 3, len(keys), "numbers of npu.ublock")
	_, err := Explain("pixel4", "npu.ub")
	require.Check(t, err != nil && strings.Contains(err.Error(), "no such key npu.ub"), "%v", err)
}

// TestSoCPage holds the table of docs/SoC.md to the rows.
func TestSoCPage(t *testing.T) {
	var rows []string
	for line := range strings.Lines(meanings) {
		if cells := strings.Split(strings.TrimSpace(line), "\t"); !strings.HasPrefix(line, "#") {
			rows = append(rows, "| `"+cells[0]+"` | "+strings.Join(cells[1:], " | ")+" |")
		}
	}
	doctable.Check(t, "../../docs/SoC.md", "| key | unit | meaning |", rows)
}

// TestNumbersThatMoveMost: the numbers on top of docs/DEVIATIONS.md are in pixel4 with these values, and still assumed by
// the rows that are named.
func TestNumbersThatMoveMost(t *testing.T) {
	keys := map[string]Key{}
	for _, k := range require.V(Keys("pixel4"))(t) {
		keys[k.Path] = k
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\S+) \\|.*\\| \\[?(D-\\d+)\\S* \\|$")
	top := require.V(os.ReadFile("../../docs/DEVIATIONS.md"))(t)
	found := row.FindAllSubmatch(top, -1)
	require.Check(t, len(found) >= 16, "only %d rows", len(found))
	for _, m := range found {
		k, ok := keys[string(m[1])]
		require.Check(t, ok, "pixel4 has no %s", m[1])
		require.Same(t, string(m[2]), strconv.FormatFloat(k.Value, 'g', -1, 64), k.Path)
		require.Check(t, k.Assumed() && strings.Contains(k.Comment, string(m[3])), "%s: %q does not assume %s", k.Path, k.Comment, m[3])
	}
}
