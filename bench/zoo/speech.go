package zoo

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// Sizes of the speech models of Android's benchmark (MLTS), as the drawings of
// TensorFlow Lite's speech models have them (lite/models/testdata/g3doc,
// asr_am.svg and tts.svg; D-360, D-361).
const (
	asrFeatures, asrCells, asrProjection, asrPhonemes = 320, 500, 200, 42
	ttsFeatures, ttsUnits, ttsCells, ttsParameters    = 334, 128, 64, 196
)

// asr is the acoustic model of "Personalized speech recognition on mobile
// devices" (McGraw et al., arXiv 1603.03185): five LSTM layers with projection
// and a classifier of phonemes. It computes one frame; states are inputs and
// outputs, which the caller feeds back.
func asr(b *builder.Builder) {
	x := b.Values("features", 1, asrFeatures)
	for i := range 5 {
		x = lstm(b, fmt.Sprintf("lstm%d", i), x, asrCells, asrProjection)
	}
	b.Output(b.Softmax(b.Dense(x, asrPhonemes, builder.Logits)), "phonemes")
}

// tts is the acoustic model of "Fast, compact, and high quality LSTM-RNN based
// statistical parametric speech synthesizers for mobile devices" (Zen et al.,
// arXiv 1606.06061): two fully connected layers, three LSTM layers and a
// recurrent output layer, four frames of 49 values.
func tts(b *builder.Builder) {
	x := b.Values("features", 1, ttsFeatures)
	x = b.Dense(b.Dense(x, ttsUnits, builder.ReLU), ttsUnits, builder.ReLU)
	for i := range 3 {
		x = lstm(b, fmt.Sprintf("lstm%d", i), x, ttsCells, 0)
	}
	state := b.Values("rnn/state", 1, ttsParameters)
	w := b.Matrix("rnn/weights", x, ttsParameters, 1)
	r := b.Matrix("rnn/recurrent_weights", state, ttsParameters, 0.5)
	bias := b.Table("rnn/bias", 0.1, ttsParameters)
	next, y := floatTensor(b, 1, ttsParameters), floatTensor(b, 1, ttsParameters)
	b.ApplyTo(nn.OpRnn, []tensor{next, y}, x, w, r, bias, state, b.Int32(int32(nn.ActNone)))
	b.Output(y, "frames")
	b.Output(next, "rnn/state_out")
}

func floatTensor(b *builder.Builder, dims ...uint32) tensor {
	return b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: dims})
}

// lstm adds an LSTM layer of a frame without peepholes, projected when
// projection is not 0. Its states are inputs and outputs of the model.
func lstm(b *builder.Builder, name string, x tensor, cells, projection uint32) tensor {
	out := cells
	if projection > 0 {
		out = projection
	}
	h, c := b.Values(name+"/output_state", 1, out), b.Values(name+"/cell_state", 1, cells)
	var in, recurrent, bias [4]tensor
	for i, gate := range []string{"input", "forget", "cell", "output"} {
		in[i] = b.Matrix(name+"/input_to_"+gate, x, cells, 1)
		recurrent[i] = b.Matrix(name+"/recurrent_to_"+gate, h, cells, 0.5)
		bias[i] = b.Table(name+"/bias_of_"+gate, 0.1, cells)
	}
	none := b.Omitted(nn.TensorFloat32)
	weights := none
	if projection > 0 {
		b.SetSpread(c, builder.Spread{Deviation: 0.3}) // of the gated cells, which the projection reads
		weights = b.Matrix(name+"/projection", c, projection, 0.5)
	}
	scratch, hNext, cNext, y := floatTensor(b, 1, 4*cells), floatTensor(b, 1, out), floatTensor(b, 1, cells), floatTensor(b, 1, out)
	inputs := append([]tensor{x}, in[:]...)
	inputs = append(inputs, recurrent[:]...)
	inputs = append(inputs, none, none, none)
	inputs = append(inputs, bias[:]...)
	inputs = append(inputs, weights, none, h, c, b.Int32(4), b.Float32(0), b.Float32(0)) // 4 is TANH
	b.ApplyTo(nn.OpLstm, []tensor{scratch, hNext, cNext, y}, inputs...)
	b.SetSpread(y, builder.Spread{Deviation: 0.3})
	b.Output(hNext, name+"/output_state_out")
	b.Output(cNext, name+"/cell_state_out")
	return y
}
