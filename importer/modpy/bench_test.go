package modpy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// BenchmarkProgram loads a specification that computes its data.
func BenchmarkProgram(b *testing.B) {
	src := require.V(os.ReadFile("testdata/V1_3/program.mod.py"))(b)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		require.V(Parse("V1_3/program.mod.py", src))(b)
	}
}

// BenchmarkWeights loads a specification of 256 Ki numbers.
func BenchmarkWeights(b *testing.B) {
	var s strings.Builder
	s.WriteString("x = Input('x', 'TENSOR_FLOAT32', '{1}')\ny = Output('y', 'TENSOR_FLOAT32', '{1}')\nw = Parameter('w', 'TENSOR_FLOAT32', '{262144}', [")
	for i := range 1 << 18 {
		fmt.Fprintf(&s, "%.6f, ", float64(i%1000)/777-0.5)
	}
	s.WriteString("])\nModel().Operation('ADD', x, w, 0).To(y)\nExample({x: [1], y: [1]}).DisableLifeTimeVariation()\n")
	src := []byte(s.String())
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		require.V(Parse("w.mod.py", src))(b)
	}
}
