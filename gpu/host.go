package gpu

// splat fills the lanes of a row with a scalar.
func splat(t *row, v uint32, n int) {
	for l := range n {
		t[l&63] = v
	}
}

func hostRow(string) rowFn { return nil }

func hostCompare(string, int) cmpRow { return nil }
