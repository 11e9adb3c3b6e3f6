package opspec

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// stridedParsers read the operations that only reorder or select elements.
var stridedParsers = [nn.OperationCount]func(View, *nn.Operation) (Strided, error){
	nn.OpTranspose:      View.Transpose,
	nn.OpSlice:          View.Slice,
	nn.OpStridedSlice:   View.StridedSlice,
	nn.OpDepthToSpace:   View.DepthToSpace,
	nn.OpSpaceToDepth:   View.SpaceToDepth,
	nn.OpBatchToSpaceNd: View.BatchToSpace,
	nn.OpSpaceToBatchNd: View.SpaceToBatch,
	nn.OpChannelShuffle: View.ChannelShuffle,
	nn.OpReverse:        View.Reverse,
}

// IsStrided reports whether Strided reads operations of the type.
func IsStrided(t nn.OperationType) bool { return t.Valid() && stridedParsers[t] != nil }

// Strided reads an operation that only reorders or selects elements.
func (v View) Strided(op *nn.Operation) (Strided, error) {
	if !IsStrided(op.Type) {
		return Strided{}, fmt.Errorf("%s does more than reorder elements", op.Type)
	}
	return stridedParsers[op.Type](v, op)
}
