package gpu

type hostEntry struct {
	name string
	rows []rowFn
}

// hostTable lists the assembly routines this host can run.
func hostTable() []hostEntry {
	var out []hostEntry
	for i := range asmTable {
		e := hostEntry{name: asmTable[i].name}
		if hasAVX512 {
			e.rows = append(e.rows, asmTable[i].avx512)
		}
		if hasAVX2 {
			e.rows = append(e.rows, asmTable[i].avx2)
		}
		out = append(out, e)
	}
	return out
}
