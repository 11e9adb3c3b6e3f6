//go:build !amd64

package gpu

func hostRow(string) rowFn { return nil }

func hostSpread(string) rowFn { return nil }

func hostCompare(string, int) cmpRow { return nil }

func splat(t *row, v uint32, n int) { splatLanes(t, v, n) }
