package inspect

import "testing"

// TestNumbered: a part's explanation has the numbers of the model, in the same columns.
func TestNumbered(t *testing.T) {
	const part = "operation     step  estimated\n-1 in or out  copy  5\n0 CONV_2D     conv  10\n    block: 9 cycles, chosen\n1 ADD         add   3\nall                 18\n"
	for _, c := range []struct {
		operations []int
		text, want string
	}{
		{[]int{0, 1}, part, part},
		{[]int{5, 2}, part, "operation     step  estimated\n-1 in or out  copy  5\n5 CONV_2D     conv  10\n    block: 9 cycles, chosen\n2 ADD         add   3\nall                 18\n"},
		{[]int{7, 104}, part, "operation       step  estimated\n-1 in or out    copy  5\n7 CONV_2D       conv  10\n    block: 9 cycles, chosen\n104 ADD         add   3\nall                   18\n"},
		{[]int{5, 2}, "0 a foreign text\n", "0 a foreign text\n"},
	} {
		if got := numbered(c.text, c.operations); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.operations, got, c.want)
		}
	}
}
