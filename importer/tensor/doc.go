// Package tensor reads network inputs (pictures, .npy arrays, raw files) into
// the bytes of an operand, and writes tensors as .npy.
//
// Pictures (BMP, PNG, JPEG) are resized to the operand's height and width with
// an area-aware bilinear filter, as common preprocessing does. One channel is
// luminance. Quantized operands get the pixel value itself (minus 128 when
// signed), float operands (pixel - Mean) / Std.
package tensor
