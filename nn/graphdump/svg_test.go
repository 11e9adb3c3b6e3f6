package graphdump

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// fan is a model of one input that n operations read, whose results a chain of n-1 more adds up.
func fan(n int) *nn.Model {
	m := &nn.Model{Name: "fan"}
	g := &m.Main
	value := func(l nn.Lifetime) uint32 {
		g.Operands = append(g.Operands, nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}, Lifetime: l})
		return uint32(len(g.Operands) - 1)
	}
	x := value(nn.SubgraphInput)
	g.Operands = append(g.Operands, nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{3, 0, 0, 0}})
	var read []uint32
	for range n {
		y := value(nn.TemporaryVariable)
		g.Operations = append(g.Operations, nn.Operation{Type: nn.OpTanh, Inputs: []uint32{x}, Outputs: []uint32{y}})
		read = append(read, y)
	}
	sum := read[0]
	for _, y := range read[1:] {
		z := value(nn.TemporaryVariable)
		g.Operations = append(g.Operations, nn.Operation{Type: nn.OpAdd, Inputs: []uint32{sum, y, 1}, Outputs: []uint32{z}})
		sum = z
	}
	g.Operands[sum].Lifetime = nn.SubgraphOutput
	g.Inputs, g.Outputs = []uint32{x}, []uint32{sum}
	return m
}

// TestReaders: readers are below the nodes that they read.
func TestReaders(t *testing.T) {
	const n = 200
	d := placed(fan(n), Placement{})
	for _, e := range d.edges {
		a, b := d.Boxes[e.From].Layer, d.Boxes[e.To].Layer
		require.Check(t, a < b, "%v in layer %d is read by %v in layer %d", d.nodes[e.From].lines, a, d.nodes[e.To].lines, b)
	}
	require.Check(t, len(d.nodes) == 2*n+1 && len(d.edges) == n+2*(n-1)+1, "%d nodes, %d edges", len(d.nodes), len(d.edges))
}

// TestSVG: the drawing is XML with a box for each operation, in the colour of its device, and names escaped.
func TestSVG(t *testing.T) {
	m := fan(3)
	m.Main.Operands[0].Name = "<a & b>"
	var b strings.Builder
	colours := map[string]string{"npu": "#111111", "cpu": "#222222"}
	p := Placement{Devices{"npu", "npu", "", "cpu", "npu"}, []string{"", "cascade 1 of 4 turns"}, func(device string) (string, string) { return colours[device], "#eeeeee" }}
	require.NoError(t, SVG(&b, "x < y", m, p))
	boxes := map[string]int{}
	for dec := xml.NewDecoder(strings.NewReader(b.String())); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "rect" {
			for _, a := range e.Attr {
				if a.Name.Local == "fill" {
					boxes[a.Value]++
				}
			}
		}
	}
	// With the legend; two of input and output, the ground and the operation of no device.
	require.Check(t, boxes[colours["npu"]] == 4 && boxes[colours["cpu"]] == 2 && boxes["#e0e0e0"] == 2 && boxes["white"] == 2, "boxes %v", boxes)
	for _, want := range []string{"input 0 &lt;a &amp; b&gt;", "3: ADD", "[2] I32 = 3", ">cascade 1 of 4 turns</text>", "<title>x &lt; y</title>"} {
		require.Check(t, strings.Contains(b.String(), want), "no %q in\n%s", want, b.String())
	}
	b.Reset()
	require.NoError(t, WriteDivided(&b, "x", m, p))
	if n := strings.Count(b.String(), `fillcolor="#111111" fontcolor="#eeeeee"`); n != 3 || !strings.Contains(b.String(), `label="3: ADD\n[2] I32 = 3\non cpu"`) {
		t.Errorf("%d operations in the first colour:\n%s", n, b.String())
	}
	if n := strings.Count(b.String(), `\ncascade 1 of 4 turns\non npu"`); n != 1 {
		t.Errorf("%d notes:\n%s", n, b.String())
	}
}
