package dspdriver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestRandomSliced runs convolutions of which VTCM does not hold the weights of 128 channels, with each of
// the kernels that go through fewer of them at a time.
func TestRandomSliced(t *testing.T) {
	d := device(t)
	windows := 0
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 33))
		b := newBuilder(r)
		n, h, w := 1+r.IntN(2), 4+r.IntN(3), 3+r.IntN(4)
		k := pick(r, 100, 128, 129, 160, 192, 230, 256)
		c, kh, kw := 2048+r.IntN(200), 1, 1
		if r.IntN(2) == 0 {
			c, kh, kw = 256+r.IntN(100), 3, 3
		}
		x, what := b.conv(n, h, w, c, k, kh, kw, 1, 1)
		sliced := 0
		for _, name := range runCandidates(t, d, b, x, fmt.Sprintf("%d_%s", seed, what), "slice_") {
			if strings.HasPrefix(name, "slice_window") {
				windows++
			} else {
				sliced++
			}
		}
		require.Check(t, sliced == 2, "%s: %d kernels of slices", what, sliced)
	}
	require.Check(t, windows > 10, "%d kernels of slices with the Z window", windows)
}

// runCandidates runs a model of one operation with each of its kernels whose name begins so, compares with the reference,
// and returns their names.
func runCandidates(t *testing.T, d *Device, b *builder, x uint32, what, prefix string) (names []string) {
	t.Helper()
	inputs := [][]byte{b.bytes(int(b.m.Main.Operands[x].Bytes()))}
	want := drivertest.Reference(t, &b.m, inputs)
	chooser, _ := hal.As[hal.Chooser](require.V(d.PrepareModel(&b.m, hal.PrepareOptions{}))(t, what))
	for _, choice := range require.V(chooser.Choices())(t, what) {
		for _, k := range choice.Candidates {
			if !strings.HasPrefix(k.Name, prefix) {
				continue
			}
			names = append(names, k.Name)
			p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{Candidates: map[int]string{0: k.Name}}))(t, what)
			got := drivertest.Outputs(&b.m)
			require.V(hal.Execute(p, &hal.Buffers{Inputs: inputs, Outputs: got}))(t, what)
			require.Check(t, bytes.Equal(got[0], want[0]), "%s with %s: another result than the reference", what, k.Name)
		}
	}
	return names
}

// TestWeightsBeyondL2: convolutions whose weights of 128 channels L2 does not hold keep their multiply-accumulates
// per cycle, and the estimates of all their kernels, also of those that wait for DRAM, are
// 0.67 to 1.5 of what they take.
func TestWeightsBeyondL2(t *testing.T) {
	d := device(t)
	for _, depth := range []int{768, 896, 1024} {
		b := newBuilder(rand.New(rand.NewPCG(1, 34)))
		in := b.activation(nn.TensorQuant8Asymm, 1, 7, 7, depth)
		x := b.input(in)
		f, bias := b.weights(in, []int{256, 3, 3, depth}, 256, 0)
		out := b.activation(in.Type, 1, 7, 7, 256)
		out.Scale = outScale(b, in, 9*depth)
		b.add(nn.OpConv2D, []uint32{x, f, bias, b.int32(nn.PaddingSame), b.int32(1), b.int32(1), b.int32(0)}, b.output(out))
		p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{}))(t)
		chooser, _ := hal.As[hal.Chooser](p)
		macs := 49 * 256 * 9 * int64(depth)
		for _, k := range require.V(chooser.Choices())(t)[0].Candidates {
			list := compile.Programs(require.V(d.PrepareModel(&b.m, hal.PrepareOptions{Candidates: map[int]string{0: k.Name}}))(t))
			plan := require.V(list[0][0].(*executable).Plan())(t)
			var estimated, took int64
			for i, n := range require.V(plan.Cycles())(t) {
				estimated, took = estimated+plan.Steps[i].Estimated, took+n
			}
			t.Logf("%d channels, %s: %d cycles, estimated %d (%d to choose)", depth, k.Name, took, estimated, k.Cycles)
			ratio := float64(estimated) / float64(took)
			require.Check(t, ratio > 0.67 && ratio < 1.5, "%d channels, %s: estimated %d of %d cycles", depth, k.Name, estimated, took)
			require.Check(t, !k.Chosen || macs/took > 100, "%d channels, %s: %d cycles, %.0f multiply-accumulates in each", depth, k.Name, took, float64(macs)/float64(took))
		}
	}
}
