package lower

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// codebookRows are the operations of the extension nn.CodebookExtension.
var codebookRows = []row{
	{Operations: legal.Ops(nn.OpDecodeCodebook), Types: legal.Of(nn.TensorQuant8Codebook), Action: takes(lowerDecode), Forms: small},
}

// lowerDecode lowers DECODE_CODEBOOK to a table: what each code of the input's codebook is
// in the quantization of the output.
func lowerDecode(l *Lowering, op *nn.Operation) error {
	d := try.V(opspec.Read[opspec.Decode](l.view, op))
	in := try.V(l.Value(d.Input))
	i, o := &l.graph.Operands[d.Input], &l.graph.Operands[d.Output]
	in, out := l.vectors(in, d.Output)
	l.lookup(out, in, storedTable(d.Table(l.view), i.Type, o.Type))
	return nil
}
