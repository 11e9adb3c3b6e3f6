//go:build !amd64

package gpu

type hostEntry struct {
	name   string
	rows   []rowFn
	spread bool
}

func hostTable() []hostEntry { return nil }
