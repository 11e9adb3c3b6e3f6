// Package layernorm has the kernels of layer normalization, as QUANTIZED_LSTM
// defines it.
package layernorm
