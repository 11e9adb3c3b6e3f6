// Package module has faults planted into it.
package module

// Sum has a test.
func Sum(a, b int) int {
	return a + b
}

// Unused has none.
func Unused(a, b int) int {
	return a + b
}

// Text has arguments that cannot be exchanged.
func Text(n int, s string) string {
	return Join(n, s)
}

// Join repeats a text.
func Join(n int, s string) string {
	out := ""
	for range n {
		out += s
	}
	return out
}

// Steps are weights; Weight tells one.
var steps = []int{2, 30}

// Weight is that of step i.
func Weight(i int) int {
	return steps[i]
}

var twice = func(n int) int { return n * 2 }
