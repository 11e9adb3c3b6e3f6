package drivertest

import (
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// Plans compares how each device of a list plans those of count random networks that it supports whole, and their
// costs, with a file, or with update writes it: below the names of a network and a device checksums of the program's steps
// and of the estimates and candidates in Explain, the sums of estimated and simulated cycles from cold caches, and the
// lines of Times. The networks are larger than the models of Times, so that on-chip memory may be too small for them.
func Plans(t *testing.T, devices map[string]hal.Device, count int, file string, update bool) {
	t.Helper()
	var text strings.Builder
	for i := range count {
		r := rand.New(rand.NewPCG(uint64(i), 8))
		m := require.V(network(r, builder.Format(1+i%3)))(t)
		in := make([]byte, m.Main.Operands[m.Main.Inputs[0]].Bytes())
		for i := range in {
			in[i] = byte(r.IntN(0x3f)) // of floats: between 0 and 1
		}
		c := &randgraph.Case{Model: m, Inputs: [][]byte{in}}
		for _, name := range slices.Sorted(maps.Keys(devices)) {
			if d := devices[name]; accepts(d, m) {
				fmt.Fprintf(&text, "%s on %s\n%s%s", m.Name, name, planned(d, m), outcome(d, c))
			}
		}
	}
	golden(t, text.String(), file, update)
}

// planned describes how a model is planned, in lines as outcome.
func planned(d hal.Device, m *nn.Model) string {
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		return "\t" + err.Error() + "\n"
	}
	var steps, explained strings.Builder
	if err := errors.Join(p.(hal.StepPrinter).WriteSteps(&steps), p.(hal.Explainer).Explain(&explained)); err != nil {
		return "\t" + err.Error() + "\n"
	}
	sum := func(b *strings.Builder) uint32 { return crc32.ChecksumIEEE([]byte(b.String())) }
	_, all, _ := strings.Cut(explained.String(), "\nall ")
	all, _, _ = strings.Cut(all, "\n")
	text := fmt.Sprintf("\tsteps %08x\n\texplained %08x\n", sum(&steps), sum(&explained))
	for i, x := range strings.Fields(all) {
		text += fmt.Sprintf("\t%s %s\n", [...]string{"estimated", "simulated", "ratio"}[i], x)
	}
	return text
}

// network is a random network of layers on an image, some of which join two earlier ones.
func network(r *rand.Rand, f builder.Format) (*nn.Model, error) {
	b := builder.New(builder.Config{Format: f, Seed: r.Uint32()})
	upTo := func(most int) uint32 { return uint32(1 + r.IntN(most)) }
	x := b.Values("input", 1, 12+upTo(36), 12+upTo(36), 1+upTo(24))
	same := map[[3]uint32]builder.Tensor{} // by shape
	for range 6 + r.IntN(6) {
		d := b.Dims(x)
		act := builder.Activation(r.IntN(6))
		window := min(upTo(3), d[1], d[2])
		switch y, ok := same[[3]uint32(d[1:])]; {
		case ok && r.IntN(2) == 0:
			x = b.Add(x, y, act)
		case ok && r.IntN(2) == 0:
			x = b.Concat(x, y)
		default:
			same[[3]uint32(d[1:])] = x
			c := builder.Conv{Out: upTo(72), Kernel: window, Width: min(upTo(3), d[2]), Stride: upTo(2), Act: act, Valid: r.IntN(4) == 0}
			switch r.IntN(9) {
			case 0:
				x = b.MaxPool(x, builder.Pool{Window: window, Stride: c.Stride})
			case 1:
				x = b.AveragePool(x, builder.Pool{Window: window, Valid: c.Valid})
			case 2:
				x = b.Conv(x, builder.Conv{Out: upTo(96), Kernel: 1, Act: act})
			case 3, 4:
				x = b.Depthwise(x, c)
			case 5:
				x = b.Affine(b.Pad(x, 0, 0, 1, 0, 0, 2, 0, 0), act)
			default:
				x = b.Conv(x, c)
			}
		}
	}
	b.Output(b.Dense(b.GlobalPool(x), upTo(40), builder.NoActivation), "output")
	return b.Model(fmt.Sprintf("network_%d", b.Seed))
}
