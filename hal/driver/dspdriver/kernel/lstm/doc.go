// Package lstm has the kernels of QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM: gates in
// 16-bit fixed point and the sums between them.
package lstm
