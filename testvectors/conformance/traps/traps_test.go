package traps

import "testing"

func TestAll(t *testing.T) {
	list, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		if x.Case.Model == nil && !x.Case.ExpectFailure {
			t.Errorf("%s: %v", x.Case.Name, x.Case.Malformed)
		}
	}
	if len(list) < 150 {
		t.Errorf("%d traps", len(list))
	}
}
