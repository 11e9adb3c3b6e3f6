package spelling

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPrintable: letters of any script stay, what controls a terminal or the order of letters is an escape.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "conv/1:0": "conv/1:0", "слой/卷积-🧠": "слой/卷积-🧠",
		"a\x1b[31mb\r\nc\x00": `a\x1b[31mb\x0d\x0ac\x00`, "x\u202ey\u2028": `x\u202ey\u2028`, "\u009b1m": `\x9b1m`, "\xff\xfe": `\xff\xfe`, "a\tb": `a\x09b`,
	} {
		require.Equal(t, Printable(text), want)
	}
}

// TestShort keeps the end within the bound.
func TestShort(t *testing.T) {
	require.Equal(t, Short("model/layers/12/attention", 30), "model/layers/12/attention")
	require.Equal(t, Short("model/layers/12/attention", 20), "…layers/12/attention")
	require.Equal(t, utf8.RuneCountInString(Short(strings.Repeat("я", 500), 64)), 64)
	require.Equal(t, Short("\x1b\x1b\x1b", 64), `\x1b\x1b\x1b`)
}
