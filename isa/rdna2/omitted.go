package rdna2

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// omittedTable names the instructions that ops.txt leaves out.
//
//go:embed omitted.txt
var omittedTable string

type omittedRow struct {
	mask, match uint32
	name        string
}

var omitted = sync.OnceValue(func() []omittedRow {
	var out []omittedRow
	for line := range strings.Lines(omittedTable) {
		var r omittedRow
		if _, err := fmt.Sscanf(line, "%x %x %s", &r.mask, &r.match, &r.name); err == nil {
			out = append(out, r)
		}
	}
	return out
})

// omittedName is the mnemonic of an instruction of gfx1030 that this package does
// not have, by its first word; empty when it is none.
func omittedName(word uint32) string {
	for _, r := range omitted() {
		if word&r.mask == r.match {
			return r.name
		}
	}
	return ""
}

// unknown is the error of words that Decode has no form for.
func unknown(w uint64, wide bool) error {
	digits := fmt.Sprintf("%08x", uint32(w))
	if wide {
		digits = fmt.Sprintf("%016x", w)
	}
	if name := omittedName(uint32(w)); name != "" {
		return fmt.Errorf("rdna2: %w: %s (%s) is not supported", ErrUnknown, name, digits)
	}
	return fmt.Errorf("rdna2: %w %s", ErrUnknown, digits)
}
