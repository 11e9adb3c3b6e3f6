package nnrt_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// candidateNetwork is a pool, which the test leaves to the CPU, and a convolution.
func candidateNetwork(t *testing.T, f builder.Format) *nn.Model {
	t.Helper()
	b := builder.New(builder.Config{Format: f})
	x := b.MaxPool(b.Values("input", 1, 32, 32, 32), builder.Pool{Window: 2, Stride: 2})
	if f == builder.Float32 {
		x = b.Conv(x, builder.Conv{Out: 40, Kernel: 3})
	} else {
		x = b.Depthwise(x, builder.Conv{Kernel: 3})
	}
	b.Output(x, "y")
	m := require.V(b.Model("candidates"))(t)
	return m
}

// chosen is the chosen candidate of an operation, and another one.
func chosen(t *testing.T, c *nnrt.Compilation, op int) (name, other string) {
	t.Helper()
	choices := require.V(c.Choices())(t)
	for _, x := range choices {
		if x.Operation != op {
			continue
		}
		for _, y := range x.Candidates {
			if y.Chosen {
				name = y.Name
			} else if other == "" {
				other = y.Name
			}
		}
	}
	return name, other
}

// TestCandidates: every driver uses another candidate on request, with the same result, and
// none that it does not consider. A cache neither returns nor keeps requested candidates.
func TestCandidates(t *testing.T) {
	list := pixel4(t)
	for device, m := range map[string]*nn.Model{
		"gpu": candidateNetwork(t, builder.Float32), "dsp": candidateNetwork(t, builder.Quant8), "npu": candidateNetwork(t, builder.Quant8),
	} {
		t.Run(device, func(t *testing.T) {
			r, err := registry.New(list[0], list[1:]...)
			require.NoError(t, err)
			require.NoError(t, r.ForceUnsupported("MAX_POOL_2D:"+device))
			compile := func(candidates map[int]string) (*nnrt.Compilation, error) {
				return nnrt.Compile(r, m, device, nnrt.CompileOptions{Candidates: candidates})
			}
			own := require.V(compile(nil))(t)
			const op = 1 // of the model, 0 of the device's part
			name, other := chosen(t, own, op)
			if name == "" || other == "" {
				t.Fatalf("operation %d took %q, not %q", op, name, other)
			}
			asked := require.V(compile(map[int]string{op: other}))(t)
			if got, _ := chosen(t, asked, op); got != other {
				t.Errorf("asked for %q it takes %q", other, got)
			}
			var results [2]*nnrt.Result
			for i, c := range []*nnrt.Compilation{own, asked} {
				in := make([]byte, m.Main.Operands[m.Main.Inputs[0]].Bytes())
				for k := range in {
					in[k] = byte(37*k) % 64
				}
				if results[i], err = c.Execute([][]byte{in}, nnrt.ExecuteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			require.Check(t, device == "gpu" || bytes.Equal(results[0].Outputs[0], results[1].Outputs[0]), "another candidate gives another result")
			cache := registry.Cache{Dir: t.TempDir(), Token: hal.CacheToken{1}}
			for i, x := range []struct {
				candidates map[int]string
				want       string
				hits       int
			}{{map[int]string{op: other}, other, 0}, {nil, name, 0}, {nil, "", 1}, {map[int]string{op: other}, other, 0}} {
				c := require.V(nnrt.Compile(r, m, device, nnrt.CompileOptions{Candidates: x.candidates, Cache: cache}))(t)
				if c.CacheHits != x.hits {
					t.Errorf("compilation %d, candidates %v: %d parts from the cache, want %d", i, x.candidates, c.CacheHits, x.hits)
				} else if x.want != "" {
					if got, _ := chosen(t, c, op); got != x.want {
						t.Errorf("compilation %d with a cache, candidates %v: it takes %q, want %q", i, x.candidates, got, x.want)
					}
				}
			}
			if _, err := compile(map[int]string{op: "none"}); !errors.Is(err, nnrt.ErrCandidate) {
				t.Errorf("a candidate that there is not: %v", err)
			}
			if _, err := nnrt.Compile(r, m, r.CPU().Name(), nnrt.CompileOptions{Candidates: map[int]string{op: other}}); !errors.Is(err, nnrt.ErrCandidate) {
				t.Errorf("a candidate on the CPU: %v", err)
			}
		})
	}
}
