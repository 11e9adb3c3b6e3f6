package module

import "testing"

func TestSum(t *testing.T) {
	if Sum(2, 3) != 5 {
		t.Error("2 + 3 is not 5")
	}
}

func TestWeight(t *testing.T) {
	if Weight(0) != 2 {
		t.Error("the first step has another weight than 2")
	}
}

func TestTwice(t *testing.T) {
	if twice(3) != 6 {
		t.Error("twice 3 is not 6")
	}
}
