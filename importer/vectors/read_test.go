package vectors

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

const small = `{"format":"nnapi-test-vectors/1","spec":"a/relu.mod.py","specName":"relu","specVersion":"V1_0","specSha256":"",
"buffers":["AACAvw==","AAAAAA=="],"cases":[{"name":"relu","minVersion":"V1_0","isRelaxed":true,"expectFailure":false,
"main":{"name":null,"operands":[
{"name":"x","type":"TENSOR_FLOAT32","dimensions":[1],"lifetime":"SUBGRAPH_INPUT","data":0},
{"name":"y","type":"TENSOR_FLOAT32","dimensions":[1],"lifetime":"SUBGRAPH_OUTPUT","data":1}],
"operations":[{"type":"RELU","inputs":[0],"outputs":[1]}],"inputs":[0],"outputs":[1]},"referenced":[]}]}`

func TestRead(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(small))
	w.Close()
	for _, src := range []string{small, z.String()} {
		f := require.V(Read(strings.NewReader(src)))(t)
		c := f.Cases[0]
		if f.Name != "relu" || c.Name != "relu" || !c.Model.Relaxed || c.Model.Main.Operations[0].Type != nn.OpRelu ||
			!bytes.Equal(c.Inputs[0].Data, []byte{0, 0, 0x80, 0xbf}) || len(c.Outputs[0].Data) != 4 {
			t.Errorf("read %+v", c)
		}
		require.Check(t, c.Model.Main.Operands[1].Data == nil, "the model knows the expected output")
	}
}

// TestReadErrors: an invalid document is an error; a malformed case is reported and leaves the others alone.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		from, to, want string
		document       bool
	}{
		{`vectors/1`, `vectors/2`, "format", true},
		{`AACAvw==`, `*`, "byte", true},
		{`"data":1`, `"data":7`, "operand 1: data is buffer 7 of 2", false},
		{`"data":1`, `"data":-1`, "buffer -1", false},
		{`SUBGRAPH_INPUT`, `FOREVER`, `no lifetime "FOREVER"`, false},
		{`TENSOR_FLOAT32`, `FLOAT8`, `no operand type "FLOAT8"`, false},
		{`"RELU"`, `"EINSUM"`, `operation 0: NNAPI has no operation "EINSUM"`, false},
		{`"inputs":[0],"outputs":[1]}`, `"inputs":[9],"outputs":[1]}`, "", false}, // of an operation: left to validation
		{`"inputs":[0],"outputs":[1]}`, `"inputs":[-9],"outputs":[1]}`, "number -9", false},
		{`"referenced":[]`, `"extra":1`, "unknown field", false},
	} {
		text := strings.Replace(small, c.from, c.to, 1)
		text = strings.Replace(text, `"cases":[`, `"cases":[{"name":"other","main":{"operands":[],"operations":[],"inputs":[],"outputs":[]},"referenced":[]},`, 1)
		f, err := Read(strings.NewReader(text))
		if err == nil && len(f.Cases) == 2 {
			require.Check(t, f.Cases[0].Model != nil, "%s -> %s: the other case has no model: %v", c.from, c.to, f.Cases[0].Malformed)
			err = f.Cases[1].Malformed
			if c.document || f.Cases[1].Name != "relu" || (f.Cases[1].Model == nil) != (err != nil) {
				t.Errorf("%s -> %s: %+v", c.from, c.to, f.Cases[1])
			}
		}
		if c.want == "" && err == nil {
			continue
		}
		require.Check(t, err != nil && strings.Contains(err.Error(), c.want), "%s -> %s: error %v, want %q", c.from, c.to, err, c.want)
	}
	for i := range len(small) {
		if _, err := Read(strings.NewReader(small[:i])); err == nil {
			t.Fatalf("a document cut at byte %d was read", i)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Read(bytes.NewReader(b))
		if err == nil && file == nil {
			t.Fatal("neither file nor error")
		}
	})
}
