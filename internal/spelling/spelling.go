// Package spelling finds the intended name of a misspelt one, counts the errors in a sequence of words or other symbols, and
// writes names from files so that a terminal shows them as they are.
package spelling

import "github.com/hbollon/go-edlib"

// maxLength bounds the names that are compared.
const maxLength = 64

// DidYouMean is the end of a refusal of a name: "; did you mean "dsp"?" with the known name that is closest, or nothing
// when none is close.
func DidYouMean(name string, known []string) string {
	if c := Closest(name, known); c != "" {
		return "; did you mean \"" + c + "\"?"
	}
	return ""
}

// Closest is the first of the known names with the fewest letters changed, added, dropped or
// swapped with their neighbour, "" when that is more than a third of the name's.
func Closest(name string, known []string) string {
	best, closest := max(1, len(name)/3), ""
	if len(name) == 0 || len(name) > maxLength {
		return ""
	}
	for _, k := range known {
		if len(k) > maxLength || k == name {
			continue
		}
		if d := edlib.OSADamerauLevenshteinDistance(name, k); d < best || d == best && closest == "" {
			best, closest = d, k
		}
	}
	return closest
}

// firstLetter is the first code point above the surrogates: as many symbols as anybody compares have one each.
const firstLetter = '\uE000'

// Distance returns how many symbols of a must be replaced, dropped or added to make it b (Levenshtein).
func Distance[T comparable](a, b []T) int {
	letters := map[T]rune{} // that stand for the symbols
	spell := func(symbols []T) string {
		text := make([]rune, len(symbols))
		for i, s := range symbols {
			if _, ok := letters[s]; !ok {
				letters[s] = firstLetter + rune(len(letters))
			}
			text[i] = letters[s]
		}
		return string(text)
	}
	return edlib.LevenshteinDistance(spell(a), spell(b))
}
