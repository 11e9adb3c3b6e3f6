package hexagonnn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/hexagonnn"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestErrors: an error names the fault of a graph, when a node is appended or when the graph is prepared.
func TestErrors(t *testing.T) {
	cpu := device(t, "cpu")
	prepare := func(m *maker, y ...hexagonnn.Input) error {
		m.node("OUTPUT", pad, room, 1, y...)
		return m.g.Prepare()
	}
	for name, c := range map[string]struct {
		graph func(m *maker) error
		want  string
	}{
		"no such source": {func(m *maker) error {
			x, l, h := m.codes()
			x.Source = 99
			return prepare(m, m.node("QuantizedRelu_8", pad, room, 1, x, l, h)[0])
		}, "no node 0x63"},
		"data-dependent": {func(m *maker) error {
			return prepare(m, m.node("AutoQuantize", pad, room, 1, m.reals())[0])
		}, "AutoQuantize): the operation has no form"},
		"too few inputs": {func(m *maker) error {
			x, l, _ := m.codes()
			return prepare(m, m.node("QuantizedRelu_8", pad, room, 1, x, l)[0])
		}, "2 inputs, want 3 to 3"},
		"padding": {func(m *maker) error {
			x, l, h := m.codes()
			return prepare(m, m.node("QuantizedMaxPool_8", hexagonnn.PadSameCaffe, room, 1, x, l, h, m.shape(2, 2), m.shape(2, 2))[0])
		}, "padding SAME_CAFFE"},
		"bound": {func(m *maker) error {
			x, l, h := m.codes()
			return prepare(m, m.node("QuantizedReluX_8", pad, room, 1, x, l, h, m.real(5))[0])
		}, "bounds [5]"},
		"empty range": {func(m *maker) error {
			x, l, _ := m.codes()
			return prepare(m, m.node("QuantizedRelu_8", pad, room, 1, x, l, l)[0])
		}, "range -2 to -2"},
		"range is NaN": {func(m *maker) error {
			x, l, _ := m.codes()
			return prepare(m, m.node("QuantizedRelu_8", pad, room, 1, x, l, m.real(float32(math.NaN())))[0])
		}, "NaN"},
		"two ranges": {func(m *maker) error {
			x, l, h := m.codes()
			m.node("QuantizedRelu_8", pad, room, 1, x, l, h)
			return prepare(m, m.node("QuantizedRelu_8", pad, room, 1, x, l, m.real(7))[0])
		}, "reads it with another"},
		"no room": {func(m *maker) error {
			x, l, h := m.codes()
			return prepare(m, m.node("QuantizedRelu_8", pad, [4]uint32{1, 1, 1, 8}, 1, x, l, h)[0])
		}, "needs 128 bytes, declared are 8"},
		"sums leave the graph": {func(m *maker) error {
			x, l, h := m.codes()
			f, fl, fh := m.eight(1, 1, 8, 8)
			return prepare(m, m.node("QuantizedConv2d_8x8to32", same, room, 4, x, f, l, h, fl, fh, m.shape(1, 1))[0])
		}, "no float tensor"},
		"beyond all bounds": {func(m *maker) error {
			y := m.node("ResizeBilinear_f", pad, room, 4, m.reals(), m.ints(1<<10, 1<<10))
			return prepare(m, y[0])
		}, "declared are 16384"},
		"input is output": {func(m *maker) error { return prepare(m, m.reals()) }, "an input of the graph"},
		"filter without depth": {func(m *maker) error {
			return prepare(m, m.node("Conv2d_f", same, room, 4, m.reals(), m.constant([4]uint32{1, 1, 8, 0}, nil), m.shape(1, 1))[0])
		}, "has 0 bytes"},
		"no output": {func(m *maker) error { m.reals(); return m.g.Prepare() }, "no OUTPUT node"},
		"execute first": {func(m *maker) error {
			return m.g.Execute(hexagonnn.TensorDef{}, &hexagonnn.TensorDef{})
		}, "not prepared"},
		"twice": {func(m *maker) error { m.ints(1); return m.g.AppendConstNode(1, 1, 1, 1, 1, nil) }, "is there already"},
		"zero":  {func(m *maker) error { return m.g.AppendConstNode(0, 1, 1, 1, 1, nil) }, "start at 1"},
		"operation 9999": {func(m *maker) error {
			return m.g.AppendNode(5, 9999, pad, nil, nil)
		}, "no operation to append"},
		"populate": {func(m *maker) error {
			m.check(m.g.AppendEmptyConstNode(7, 1, 1, 1, 4, 4))
			m.check(m.g.PopulateConstNode(7, []byte{1, 2}, 2))
			return m.g.PopulateConstNode(7, []byte{1, 2}, 3)
		}, "2 bytes at offset 3 of 4"},
		"after teardown": {func(m *maker) error { m.check(m.g.Teardown()); return m.g.Prepare() }, "after Teardown"},
		"wrong shape": {func(m *maker) error {
			m.check(prepare(m, m.node("Relu_f", pad, room, 4, m.reals())[0]))
			return m.g.Execute(hexagonnn.TensorDef{Batches: 1, Data: make([]byte, 512)}, &hexagonnn.TensorDef{})
		}, "has the shape [1 0 0 0]"},
		"short output": {func(m *maker) error {
			m.check(prepare(m, m.node("Relu_f", pad, room, 4, m.reals())[0]))
			in := hexagonnn.TensorDef{Batches: 1, Height: 4, Width: 4, Depth: 8, Data: make([]byte, 512)}
			return m.g.Execute(in, &hexagonnn.TensorDef{Data: make([]byte, 511)})
		}, "output 0 has 511 bytes, needs 512"},
	} {
		m := newMaker(t, cpu)
		err := c.graph(m)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
			continue
		}
		if log := m.g.Log(); !strings.Contains(log, c.want) {
			t.Errorf("%s: log %q", name, log)
		}
	}
}

// Votes for clocks are those of the interface.
func TestClocks(t *testing.T) {
	l := require.V(hexagonnn.Open(device(t, "cpu")))(t)
	for c := hexagonnn.CornerRelease; c <= hexagonnn.CornerSVS2; c++ {
		require.Report(t, l.SetClocks(c))
	}
	require.Fails(t, l.SetClocks(hexagonnn.CornerSVS2+1), "a corner behind the last is taken")
	require.Report(t, l.SetPowersaveLevel(1))
	require.Fails(t, require.Err(hexagonnn.Open(nil)), "no device is taken")
}

// Whatever is appended, Prepare and ExecuteNew return.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{0, 1, 4, 4, 8, 20, 1, 3, 1, 1, 2, 2, 2})
	f.Add([]byte{0, 4, 4, 4, 8, 58, 1, 1, 1})
	cpu := device(f, "cpu")
	f.Fuzz(func(t *testing.T, data []byte) {
		l := require.V(hexagonnn.Open(cpu))(t)
		g := l.Init()
		next := func() byte {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return b
		}
		var outputs []hexagonnn.Output
		for id := hexagonnn.NodeID(1); len(data) > 0 && id < 40; id++ {
			op := hexagonnn.Op(next())
			if op == 3 {
				n := next() % 64
				_ = g.AppendConstNode(id, 1, uint32(next()%9), uint32(next()%9), uint32(next()%9), ramp(int(n), 5))
				continue
			}
			o := hexagonnn.Output{MaxSizes: [4]uint32{1, uint32(next() % 9), uint32(next() % 9), uint32(next() % 9)}, ElementSize: uint32(next() % 5)}
			var in []hexagonnn.Input
			for range next() % 13 {
				in = append(in, hexagonnn.Input{Source: hexagonnn.NodeID(next() % 40), Output: uint32(next() % 3)})
			}
			if _ = g.AppendNode(id, op, hexagonnn.Padding(next()%6), in, []hexagonnn.Output{o}); op == 0 {
				outputs = append(outputs, o)
			}
		}
		if g.Prepare() != nil || len(outputs) == 0 {
			return
		}
		o := outputs[0].MaxSizes
		in := hexagonnn.TensorDef{Batches: o[0], Height: o[1], Width: o[2], Depth: o[3], Data: make([]byte, 4096)}
		out := hexagonnn.TensorDef{Data: make([]byte, 1<<16)}
		_ = g.Execute(in, &out)
	})
}
