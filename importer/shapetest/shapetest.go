// Package shapetest has the rules of shapes by which the importers' tests draw random networks.
package shapetest

import "slices"

// Broadcast is the shape of two together, nil where they do not broadcast.
func Broadcast[T int32 | int64](a, b []T) []T {
	out := make([]T, max(len(a), len(b)))
	for i := range out {
		x, y := T(1), T(1)
		if k := i - (len(out) - len(a)); k >= 0 {
			x = a[k]
		}
		if k := i - (len(out) - len(b)); k >= 0 {
			y = b[k]
		}
		if x != y && x != 1 && y != 1 {
			return nil
		}
		out[i] = max(x, y)
	}
	return out
}

// Reduced is a shape without the dimensions of a reduction, or with 1 for each that is kept.
func Reduced[T int32 | int64, A int | int64](shape []T, axes []A, keep bool) []T {
	out := []T{}
	for i, d := range shape {
		switch {
		case !slices.Contains(axes, A(i)):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}
