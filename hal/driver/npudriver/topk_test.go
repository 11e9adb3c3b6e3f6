package npudriver

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// topK is a TOPK_V2 of rows of depth elements.
func topK(t nn.OperandType, rows, depth, k int) *nn.Model {
	scale := float32(0)
	if t != nn.TensorInt32 {
		scale = 0.5
	}
	shape := func(n int) []uint32 { return []uint32{uint32(rows), uint32(n)} }
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			{Type: t, Scale: scale, Dimensions: shape(depth), Lifetime: nn.SubgraphInput},
			{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(k))},
			{Type: t, Scale: scale, Dimensions: shape(k), Lifetime: nn.SubgraphOutput},
			{Type: nn.TensorInt32, Dimensions: shape(k), Lifetime: nn.SubgraphOutput},
		},
		Operations: []nn.Operation{{Type: nn.OpTopkV2, Inputs: []uint32{0, 1}, Outputs: []uint32{2, 3}}},
		Inputs:     []uint32{0}, Outputs: []uint32{2, 3},
	}}
}

// TestTopK ranks rows of any, of few, and of the least and greatest elements, all of them too.
func TestTopK(t *testing.T) {
	list := machines(t)
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		kind := []nn.OperandType{nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorInt32}[seed%3]
		rows, depth := 1+r.IntN(4), 1+r.IntN(40)
		if seed > 50 {
			depth = 1 + r.IntN(3000)
		}
		k := 1 + r.IntN(min(depth, 40))
		var in []byte
		for range rows * depth {
			v := int32(r.Uint32())
			switch seed / 3 % 3 {
			case 1:
				v = r.Int32N(3) - 1
			case 2:
				v = []int32{math.MinInt32, math.MinInt32 + 1, math.MaxInt32, math.MaxInt32 - 1, -1, 0, 1, -1 << 16, 1<<16 - 1}[r.IntN(9)]
			}
			if kind == nn.TensorInt32 {
				in = binary.LittleEndian.AppendUint32(in, uint32(v))
			} else {
				in = append(in, byte(v))
			}
		}
		t.Run(fmt.Sprint(seed, kind, rows, depth, k), func(t *testing.T) {
			drivertest.Exact(t, list[seed%len(list)], topK(kind, rows, depth, k), [][]byte{in}, seed%2 == 0)
		})
	}
	for _, m := range []*nn.Model{topK(nn.TensorInt32, 1, 1<<14+1, 1), topK(nn.TensorQuant8Asymm, 1, 1<<16+1, 1), topK(nn.TensorQuant8Asymm, 1, 1000, 500)} {
		s, err := list[0].SupportedOperations(m)
		if err != nil || s[0].OK || !strings.Contains(s[0].Reason, "ranked") {
			t.Errorf("%v: %+v, %v", m.Main.Operands[0].Dimensions, s, err)
		}
	}
}
