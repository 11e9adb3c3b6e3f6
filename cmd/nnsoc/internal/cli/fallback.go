package cli

import (
	"fmt"
	"io"
	"regexp"

	"github.com/nnsoc/nnsoc/bench/session"
)

// figures are the numbers of a refusal, in which operations of a type differ.
var figures = regexp.MustCompile(`[0-9][0-9.x]*`)

// WriteFallbacks prints one line per type and reason, in order of appearance: refusals that differ in their numbers alone
// are one, with the numbers of the first.
func WriteFallbacks(w io.Writer, l []session.FallbackEntry) {
	type kind struct{ typ, reason string }
	var order []kind
	count, first, reason, alike := map[kind]int{}, map[kind]int{}, map[kind]string{}, map[kind]bool{}
	for _, f := range l {
		k := kind{f.Type, figures.ReplaceAllString(f.Reason, "#")}
		if count[k]++; count[k] == 1 {
			order, first[k], reason[k] = append(order, k), f.Index, f.Reason
		}
		alike[k] = alike[k] && reason[k] == f.Reason || count[k] == 1
	}
	for _, k := range order {
		where := fmt.Sprintf("operation %d (%s)", first[k], k.typ)
		if count[k] > 1 {
			where = fmt.Sprintf("%d x %s from operation %d", count[k], k.typ, first[k])
		}
		others := ""
		if !alike[k] {
			others = " (the others with other numbers)"
		}
		fmt.Fprintf(w, "  %s: %s%s\n", where, reason[k], others)
	}
}
