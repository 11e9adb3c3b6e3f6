package cli

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/bench/session"
)

// WriteFallbacks prints one line per type and reason, in order of appearance.
func WriteFallbacks(w io.Writer, l []session.FallbackEntry) {
	type kind struct{ typ, reason string }
	var order []kind
	count, first := map[kind]int{}, map[kind]int{}
	for _, f := range l {
		k := kind{f.Type, f.Reason}
		if count[k]++; count[k] == 1 {
			order, first[k] = append(order, k), f.Index
		}
	}
	for _, k := range order {
		where := fmt.Sprintf("operation %d (%s)", first[k], k.typ)
		if count[k] > 1 {
			where = fmt.Sprintf("%d x %s from operation %d", count[k], k.typ, first[k])
		}
		fmt.Fprintf(w, "  %s: %s\n", where, k.reason)
	}
}
