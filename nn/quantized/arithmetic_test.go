package quantized

import (
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

func TestActRange(t *testing.T) {
	for _, c := range []struct {
		act    nn.FusedActivation
		t      nn.OperandType
		scale  float32
		zero   int32
		lo, hi int32
	}{
		{nn.ActNone, nn.TensorQuant8Asymm, 0.1, 10, 0, 255},
		{nn.ActRelu, nn.TensorQuant8Asymm, 0.1, 10, 10, 255},
		{nn.ActRelu6, nn.TensorQuant8Asymm, 0.1, 10, 10, 70},
		{nn.ActRelu1, nn.TensorQuant8AsymmSigned, 0.1, 0, -10, 10},
		{nn.ActRelu6, nn.TensorQuant8AsymmSigned, 0.01, -128, -128, 127},
		{nn.ActRelu6, nn.TensorQuant8Asymm, 1e-38, 3, 3, 255},
	} {
		if lo, hi := ActRange(c.act, c.t, c.scale, c.zero); lo != c.lo || hi != c.hi {
			t.Errorf("%+v: %d to %d", c, lo, hi)
		}
	}
}
