//go:build !amd64

package gpu

type hostEntry struct {
	name string
	rows []rowFn
}

func hostTable() []hostEntry { return nil }
