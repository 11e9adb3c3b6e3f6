package hvx

import "strings"

// Symbol makes one word of a kernel's name with printed slices in it.
func Symbol(name string) string { return strings.NewReplacer(" ", ".", "[", "", "]", "").Replace(name) }

func Flag(on bool, s string) string {
	if on {
		return s
	}
	return ""
}
