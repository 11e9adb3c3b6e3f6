package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Columns is the most characters of a line of prose.
const Columns = 110

// Wrap breaks a text between words into lines of at most Columns characters, as WrapTo.
func Wrap(text string) string { return WrapTo(Columns, text) }

// WrapTo breaks a text between words into lines of at most so many characters, those after the first moved in by two
// blanks. A longer word has a line of its own.
func WrapTo(columns int, text string) string {
	var out strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > columns:
			out.WriteString("\n  ")
			used = 2
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += n
	}
	return out.String()
}

// Count is a number with what it counts: "1 part", "2 parts".
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
