// Package vectors reads the neutral JSON corpus of NNAPI operation test
// vectors: gzip-compressed documents of format "nnapi-test-vectors/1", each the
// expansion of one specification file into models, inputs and expected outputs.
//
// A document may be truncated or hostile: reading it is bounded in memory and
// an error names the case and the field. The models are not validated here;
// package hal/validate does that.
package vectors
