package modpy

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

var update = flag.Bool("update", false, "write the golden files")

// values are the elements of data as text.
func values(t nn.OperandType, data []byte) string {
	var out []string
	for size := t.ElementBytes(); size > 0 && len(data) >= size; data = data[size:] {
		u := uint32(0)
		for i := range size {
			u |= uint32(data[i]) << (8 * i)
		}
		switch t {
		case nn.Float32, nn.TensorFloat32:
			out = append(out, fmt.Sprint(math.Float32frombits(u)))
		case nn.Float16, nn.TensorFloat16:
			out = append(out, float16.Frombits(uint16(u)).String())
		case nn.Int32, nn.TensorInt32:
			out = append(out, fmt.Sprint(int32(u)))
		case nn.TensorQuant8AsymmSigned, nn.TensorQuant8SymmPerChannel, nn.TensorQuant8Symm:
			out = append(out, fmt.Sprint(int8(u)))
		default:
			out = append(out, fmt.Sprint(u))
		}
	}
	return strings.Join(out, " ")
}

func describe(b *strings.Builder, g *nn.Subgraph, c *vectors.Case) {
	data := map[uint32]vectors.Value{}
	if c != nil {
		for i, x := range g.Inputs {
			data[x] = c.Inputs[i]
		}
		for i, x := range g.Outputs {
			data[x] = c.Outputs[i]
		}
	}
	for i := range g.Operands {
		o := &g.Operands[i]
		fmt.Fprintf(b, "  %d %s %s %s%v", i, o.Name, o.Lifetime, o.Type, o.Dimensions)
		if o.Scale != 0 || o.ZeroPoint != 0 {
			fmt.Fprintf(b, " scale %v zero %d", o.Scale, o.ZeroPoint)
		}
		if q := o.Channel; q != nil {
			fmt.Fprintf(b, " channels of %d: %v", q.Dim, q.Scales)
		}
		v, ok := data[uint32(i)]
		d := o.Data
		if ok {
			d = v.Data
		}
		if v.Ignored {
			b.WriteString(" ignored")
		}
		switch {
		case o.Lifetime == nn.LifetimeSubgraph:
			fmt.Fprintf(b, " = model %d", binary.LittleEndian.Uint32(d))
		case d != nil:
			fmt.Fprintf(b, " = [%s]", values(o.Type, d))
		}
		b.WriteByte('\n')
	}
	for _, op := range g.Operations {
		fmt.Fprintf(b, "  %s %v -> %v\n", op.Type, op.Inputs, op.Outputs)
	}
}

func summary(f *vectors.File) string {
	var b strings.Builder
	for _, c := range f.Cases {
		fmt.Fprintf(&b, "%s %s", c.Name, c.MinVersion)
		if c.Relaxed {
			b.WriteString(" relaxed")
		}
		if c.ExpectFailure {
			b.WriteString(" fails")
		}
		if c.Multinomial != 0 {
			fmt.Fprintf(&b, " tolerance %v", c.Multinomial)
		}
		b.WriteByte('\n')
		if c.Model == nil {
			fmt.Fprintf(&b, "  malformed: %v\n", c.Malformed)
			continue
		}
		describe(&b, &c.Model.Main, c)
		for i := range c.Model.Referenced {
			fmt.Fprintf(&b, " model %d %s\n", i, c.Model.Referenced[i].Name)
			describe(&b, &c.Model.Referenced[i], nil)
		}
	}
	return b.String()
}

func specs(t testing.TB) []string {
	list, err := filepath.Glob("testdata/*/*.mod.py")
	if err != nil || len(list) == 0 {
		t.Fatalf("no specifications: %v", err)
	}
	return list
}

// TestGolden expands the specifications of testdata.
func TestGolden(t *testing.T) {
	for _, name := range specs(t) {
		f, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		got := summary(f)
		golden := strings.TrimSuffix(name, ".mod.py") + ".golden"
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o666))
			continue
		}
		want := require.File(t, golden)
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range max(len(g), len(w)) {
			if i >= len(g) || i >= len(w) || g[i] != w[i] {
				t.Errorf("%s:%d differs:\n%s\nwant\n%s", golden, i+1, at(g, i), at(w, i))
				break
			}
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(end)"
}

// TestVersion derives the version from the folder.
func TestVersion(t *testing.T) {
	const src = "x = Input('x', 'TENSOR_FLOAT32', '{1}')\ny = Output('y', 'TENSOR_FLOAT32', '{1}')\nModel().Operation('RELU', x).To(y)\nExample({x: [1], y: [1]})\n"
	for _, c := range []struct{ name, spec, version, min string }{
		{"a/V1_2/relu.mod.py", "V1_2/relu.mod.py", "V1_2", "V1_2"},
		{"AIDL_V3/relu.mod.py", "AIDL_V3/relu.mod.py", "AIDL_V3", "AIDL_V3"},
		{"V1_3_cts_only/relu.mod.py", "V1_3_cts_only/relu.mod.py", "V1_3_cts_only", "UNKNOWN"},
		{"relu.mod.py", "relu.mod.py", "", "UNKNOWN"},
	} {
		f := require.V(Parse(c.name, []byte(src)))(t)
		if f.Spec != c.spec || f.Version != c.version || f.Name != "relu" || f.Cases[0].MinVersion != c.min {
			t.Errorf("%s: %s %s %s %s", c.name, f.Spec, f.Version, f.Name, f.Cases[0].MinVersion)
		}
	}
}
