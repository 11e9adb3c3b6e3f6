// Package spelling finds the intended name of a misspelt one.
package spelling

// maxLength bounds the names that are compared.
const maxLength = 64

// DidYouMean is the end of a refusal of a name: "; did you mean "dsp"?" with the known name that is closest, or nothing
// when none is close.
func DidYouMean(name string, known []string) string {
	if c := closest(name, known); c != "" {
		return "; did you mean \"" + c + "\"?"
	}
	return ""
}

// closest is the first of the known names with the fewest letters changed, added, dropped or
// swapped with their neighbour, "" when that is more than a third of the name's.
func closest(name string, known []string) string {
	best, closest := max(1, len(name)/3), ""
	if len(name) == 0 || len(name) > maxLength {
		return ""
	}
	for _, k := range known {
		if len(k) > maxLength || k == name {
			continue
		}
		if d := distance(name, k); d < best || d == best && closest == "" {
			best, closest = d, k
		}
	}
	return closest
}

// distance is the optimal string alignment distance.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := row[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(change, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
