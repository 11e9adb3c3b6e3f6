package kerneltest

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
)

// CompareTail runs a kernel of floats as it is and with functions of its result whose arguments have every source,
// of so many channels:
//
//	(result + elements) * channels * one + 0.25 - result
func (c *Case) CompareTail(t testing.TB, channels int, tolerance float64) {
	t.Helper()
	host := c.Kernel.(elementwise.Host)
	plain, _ := host.Result()
	e, n := plain.Elem, plain.N
	result := Values(e, require.V(c.Run())(t).Output)
	link := func(op elementwise.Op, args ...elementwise.Arg) elementwise.Link {
		inf := float32(math.Inf(1))
		return elementwise.Link{Function: elementwise.Function{Op: op, Lo: -inf, Hi: inf}, Before: e, Args: args}
	}
	value := func(i int) elementwise.Arg {
		return elementwise.Arg{Source: elementwise.FromValue, Value: len(host.Following()) + i}
	}
	var more [3][]float32
	var tensors [3]*layout.Tensor
	for i, size := range [3]int{n, channels, 1} {
		for j := range size {
			more[i] = append(more[i], float32((7*j+3)%13-6)/8)
		}
		tensors[i] = Tensor(e, size)
	}
	tail := elementwise.Tail{
		link("add", value(0), elementwise.Arg{Source: elementwise.FromElements, Tensor: tensors[0]}),
		link("mul", elementwise.Arg{Source: elementwise.FromChannels, Tensor: tensors[1]}, value(1)),
		link("mul", value(2), elementwise.Arg{Source: elementwise.FromOne, Tensor: tensors[2]}),
		link("add", value(3), elementwise.Arg{Source: elementwise.FromNumber, Number: 0.25}),
		link("sub", value(4), value(0)),
	}
	own := *c
	own.Output = Tensor(e, n)
	own.Kernel = host.Follow(tail, own.Output)
	own.Inputs, own.Data = slices.Clone(c.Inputs), slices.Clone(c.Data)
	for i, x := range tensors {
		own.Inputs, own.Data = append(own.Inputs, x), append(own.Data, Stored(e, more[i]))
	}
	own.Compare(t, tolerance, func(i int) float64 {
		return (result[i]+float64(more[0][i]))*float64(more[1][i%channels])*float64(more[2][0]) + 0.25 - result[i]
	})
}
