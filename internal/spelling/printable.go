package spelling

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text from a file, as a name of a network, for a person to read: what would control a terminal, break a
// line or reorder the letters around it is written as an escape.
//
//	"a\x1b[31mb" becomes `a\x1b[31mb`, a newline `\x0a`, a right-to-left override `\u202e`
func Printable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, controls) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "\\x%02x", text[0])
		case !controls(r):
			b.WriteRune(r)
		case r > 0xff:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			fmt.Fprintf(&b, "\\x%02x", r)
		}
		text = text[n:]
	}
	return b.String()
}

// controls reports whether a character does something else than to be seen.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// Short is a printable text of at most n characters, without its beginning where it is long: converters put the scopes of
// a layer there.
func Short(text string, n int) string {
	text = Printable(text)
	if r := []rune(text); len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return text
}
