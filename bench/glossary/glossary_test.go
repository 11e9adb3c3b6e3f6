package glossary

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// TestEntries: a word has one text of each kind, in sentences; parts and reasons have a cause, other words none.
func TestEntries(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All() {
		key := string(w.Kind) + " " + strings.ToLower(w.Word)
		require.Check(t, !seen[key], "%s stands twice", key)
		seen[key] = true
		require.Check(t, strings.HasSuffix(w.Text, ".") && !strings.Contains(w.Word+w.Text, "{") && strings.ToUpper(w.Text[:1]) == w.Text[:1], "%s means %q", w.Word, w.Text)
		require.Check(t, slices.Contains(Kinds, w.Kind), "%s is a %q", w.Word, w.Kind)
		if caused := w.Kind == Part || w.Kind == Reason; caused != slices.Contains(Classes, w.Class) {
			t.Errorf("%s: cause %q", key, w.Class)
		}
	}
}

// TestReasons: every stall reason of the simulator has an entry, and no entry is of another.
func TestReasons(t *testing.T) {
	var want, have []string
	for r := range sim.NumReasons {
		want = append(want, r.String())
	}
	for _, w := range words {
		if w.Kind == Reason {
			have = append(have, w.Word)
		}
	}
	require.Equal(t, want, have, "reasons")
}

func TestFind(t *testing.T) {
	require.Same(t, 3, len(Find(All(), "Launch")), "entries: a row, a part and a reason")
	require.Same(t, 0, len(Find(All(), "no such word")), "entries of no word")
	m := Find(All(), "l2_read_miss")
	require.Check(t, len(m) == 1 && strings.Contains(m[0].Text, "the engine's L2 cache"), "%v", m)
	require.Same(t, Software, ClassOf(Part, "unheard of"), "cause of a part of a foreign driver")
	require.Same(t, WakeUp, ClassOf(Part, "cpu_wake"), "cause of cpu_wake")
	require.Same(t, Memory, ClassOf(Reason, "dram"), "cause of dram")
}

// TestColours: each cause has a colour that no other has.
func TestColours(t *testing.T) {
	seen := map[string]Class{}
	for _, c := range Classes {
		require.Check(t, len(c.Colour()) == 7 && seen[c.Colour()] == "", "%s has the colour %q, as %s", c, c.Colour(), seen[c.Colour()])
		seen[c.Colour()] = c
	}
	require.Same(t, len(Classes), len(colours), "colours")
}

// TestOneTable: pages and plots write no colour of their own that is one of the table's, names beside causes have no cause's colour,
// and spans have the cause that their names say.
func TestOneTable(t *testing.T) {
	files := require.V(filepath.Glob("../report/page/*.js"))(t)
	files = append(files, require.V(filepath.Glob("../plot/*.go"))(t)...)
	for _, more := range []string{"../mlts/page/*", "../../cmd/nnsoc/internal/*/*.html", "../../cmd/nnsoc/internal/partition/*.go", "../../cmd/nnsoc/internal/inspect/graph.go", "../../nn/graphdump/*.go"} {
		files = append(files, require.V(filepath.Glob(more))(t)...)
	}
	require.Check(t, len(files) > 25, "%d files", len(files))
	for _, f := range files {
		text := strings.ToLower(string(require.File(t, f)))
		for _, c := range Names() {
			require.Check(t, !strings.Contains(text, c), "%s has %s", f, c)
		}
	}
	for _, c := range Others() {
		for _, cause := range Classes {
			require.Check(t, c != cause.Colour(), "%s is that of %s", c, cause)
		}
	}
	for _, name := range []string{"cpu", "gpu", "dsp", "npu", "cpu:gold", "acme", "another"} {
		fill, ink := Device(name)
		require.Check(t, len(fill) == 7 && len(ink) == 7, "%s has %q and %q", name, fill, ink)
		for _, cause := range Classes {
			require.Check(t, fill != cause.Colour(), "%s has the colour of %s", name, cause)
		}
	}
	for stall, want := range map[string]Class{"": Engine, "none": Engine, "issue": Engine, "launch": Software, "dram": Memory, "unit": Wait} {
		require.Equal(t, want, SpanClass("12 CONV_2D", stall), stall)
	}
	require.Equal(t, WakeUp, SpanClass("cpu_wake", "dram"))
	for name, want := range map[string]Class{"binder": Software, "execution": Engine, "cpu_wake": WakeUp, "copy in": Memory, "prefetch 3": Memory, "12 CONV_2D": Engine, "my_network": "", "12 monkeys": ""} {
		require.Equal(t, want, SpanClass(name, ""), name)
	}
}

// TestPage holds docs/Glossary.md to the table.
func TestPage(t *testing.T) {
	for _, k := range []Kind{Part, Reason, Row, Counter, Term} {
		head, rows := fmt.Sprintf("| %s | meaning |", k), []string(nil)
		if k == Part || k == Reason {
			head = fmt.Sprintf("| %s | cause | meaning |", k)
		}
		for _, w := range words {
			switch {
			case w.Kind != k:
			case w.Class != "":
				rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", w.Word, w.Class, strings.ReplaceAll(w.Text, cacheMark, "the cache")))
			default:
				rows = append(rows, fmt.Sprintf("| `%s` | %s |", w.Word, strings.ReplaceAll(w.Text, cacheMark, "the cache")))
			}
		}
		doctable.Check(t, "../../docs/Glossary.md", head, rows)
	}
}
