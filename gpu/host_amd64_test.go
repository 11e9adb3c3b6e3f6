package gpu

type hostEntry struct {
	name   string
	rows   []rowFn
	spread bool
}

// hostTable lists the assembly routines this host can run.
func hostTable() []hostEntry {
	var out []hostEntry
	for _, spread := range []bool{false, true} {
		table := asmTable
		if spread {
			table = spreadTable
		}
		for i := range table {
			e := hostEntry{name: table[i].name, spread: spread}
			if hasAVX512 {
				e.rows = append(e.rows, table[i].avx512)
			}
			if hasAVX2 {
				e.rows = append(e.rows, table[i].avx2)
			}
			out = append(out, e)
		}
	}
	return out
}
