package cli

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/bench/session"
)

// figures are the numbers of a refusal, in which operations of a type differ.
var figures = regexp.MustCompile(`[0-9][0-9.x]*`)

// WriteFallbacks prints one line per reason, in order of appearance, with the types that have it: refusals that differ in
// their numbers alone are one, with the numbers of the first.
func WriteFallbacks(w io.Writer, l []session.FallbackEntry) {
	var order []*refusal
	by := map[string]*refusal{}
	for _, f := range l {
		k := figures.ReplaceAllString(f.Reason, "#")
		r := by[k]
		if r == nil {
			r = &refusal{text: f.Reason, first: f.Index, count: map[string]int{}}
			order, by[k] = append(order, r), r
		}
		if r.count[f.Type]++; r.count[f.Type] == 1 {
			r.types = append(r.types, f.Type)
		}
		r.differ = r.differ || r.text != f.Reason
	}
	for _, r := range order {
		where := fmt.Sprintf("operation %d (%s)", r.first, r.types[0])
		if len(r.types) > 1 || r.count[r.types[0]] > 1 {
			where = fmt.Sprintf("%s from operation %d", r.kinds(), r.first)
		}
		others := ""
		if r.differ {
			others = " (the others with other numbers)"
		}
		fmt.Fprintf(w, "  %s: %s%s\n", where, r.text, others)
	}
}

// refusal is a reason with the operations that have it.
type refusal struct {
	text   string // of the first
	first  int
	types  []string
	count  map[string]int
	differ bool // in numbers
}

// mostKinds is how many types a line names.
const mostKinds = 4

// kinds lists the types with their counts; of more than mostKinds those with the most operations, and the number of the rest.
func (r *refusal) kinds() string {
	named := slices.Clone(r.types)
	if len(named) > mostKinds {
		slices.SortStableFunc(named, func(a, b string) int { return cmp.Compare(r.count[b], r.count[a]) })
		named = named[:mostKinds]
	}
	list := make([]string, len(named))
	for i, t := range named {
		if list[i] = t; r.count[t] > 1 {
			list[i] = fmt.Sprintf("%d x %s", r.count[t], t)
		}
	}
	text := strings.Join(list, ", ")
	if more := len(r.types) - len(named); more > 0 {
		text += " and " + Count(more, "more type")
	}
	return text
}
