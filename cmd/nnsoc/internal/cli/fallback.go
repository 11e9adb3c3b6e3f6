package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// FallbackEntry is an operation that moved to the CPU.
type FallbackEntry struct {
	Index  int    `json:"index"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// FallbackEntries describes the operations of a model that moved to the CPU.
func FallbackEntries(m *nn.Model, moved []nnrt.Fallback) []FallbackEntry {
	l := []FallbackEntry{}
	for _, f := range moved {
		typ := m.Main.Operations[f.Operation].Type.String()
		l = append(l, FallbackEntry{f.Operation, typ, Refusal(typ, f.Reason)})
	}
	return l
}

// Refusal is why a device does not support an operation, without the operation's name where a driver begins with that:
// reports have it beside the reason.
func Refusal(typ, reason string) string { return strings.TrimPrefix(reason, typ+": ") }

// WriteFallbacks prints one line per type and reason, in order of appearance.
func WriteFallbacks(w io.Writer, l []FallbackEntry) {
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
