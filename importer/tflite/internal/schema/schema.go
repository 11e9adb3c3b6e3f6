// Package schema describes the tables of the TensorFlow Lite file format that the importer reads and tests write.
package schema

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// text lists the tables of the file format, one a line, and their fields
// in order of id. Names, order and defaults are facts of the published schema
// (tensorflow/lite/schema/schema.fbs, identifier TFL3).
//
// A field is "name:type" or "name:type=default". Types: u8, i8, i32, u32, i64, u64, f32, bool, text, [T] for a vector
// of numbers, a table's name, [Table] for a vector of tables, and union for a table of the kind in the field before it.
// "-" is a field that the importer does not read.
const text = `
Model version:u32 operator_codes:[OperatorCode] subgraphs:[SubGraph] description:- buffers:[Buffer] metadata_buffer:- metadata:[Metadata] signature_defs:[SignatureDef]
SignatureDef inputs:[TensorMap] outputs:[TensorMap] signature_key:text deprecated_tag:- subgraph_index:u32
TensorMap name:text tensor_index:u32
Metadata name:text buffer:u32
OperatorCode deprecated_builtin_code:i8 custom_code:text version:i32=1 builtin_code:i32
SubGraph tensors:[Tensor] inputs:[i32] outputs:[i32] operators:[Operator] name:text
Tensor shape:[i32] type:i8 buffer:u32 name:text quantization:QuantizationParameters is_variable:bool sparsity:SparsityParameters shape_signature:[i32] has_rank:bool variant_tensors:-
QuantizationParameters min:[f32] max:[f32] scale:[f32] zero_point:[i64] details_type:u8 details:union quantized_dimension:i32
BlockwiseQuantization scales:i32 zero_points:i32 block_size:i32
SparsityParameters traversal_order:[i32] block_map:[i32] dim_metadata:[DimensionMetadata]
DimensionMetadata format:i8 dense_size:i32 segments_type:u8 segments:union indices_type:u8 indices:union
Int32Vector values:[i32]
Uint16Vector values:[u16]
Uint8Vector values:[u8]
Operator opcode_index:u32 inputs:[i32] outputs:[i32] options_type:u8 options:union custom_options:[u8] custom_options_format:- mutating_variable_inputs:- intermediates:[i32] large_custom_options_offset:u64 large_custom_options_size:u64 options2_type:u8 options2:union
Buffer data:[u8] offset:u64 size:u64

Conv2DOptions padding:i8 stride_w:i32 stride_h:i32 activation:i8 dilation_w:i32=1 dilation_h:i32=1 quantized_bias_type:i8
DepthwiseConv2DOptions padding:i8 stride_w:i32 stride_h:i32 depth_multiplier:i32 activation:i8 dilation_w:i32=1 dilation_h:i32=1
TransposeConvOptions padding:i8 stride_w:i32 stride_h:i32 activation:i8 quantized_bias_type:i8
Pool2DOptions padding:i8 stride_w:i32 stride_h:i32 filter_w:i32 filter_h:i32 activation:i8
FullyConnectedOptions activation:i8 weights_format:i8 keep_num_dims:bool asymmetric_quantize_inputs:bool quantized_bias_type:i8
BatchMatMulOptions adj_x:bool adj_y:bool asymmetric_quantize_inputs:bool
AddOptions activation:i8 pot_scale_int16:bool=1
SubOptions activation:i8 pot_scale_int16:bool=1
MulOptions activation:i8
DivOptions activation:i8
SoftmaxOptions beta:f32
L2NormOptions activation:i8
LocalResponseNormalizationOptions radius:i32 bias:f32 alpha:f32 beta:f32
LeakyReluOptions alpha:f32
GeluOptions approximate:bool
FakeQuantOptions min:f32 max:f32 num_bits:i32 narrow_range:bool
CastOptions in_data_type:i8 out_data_type:i8
ConcatenationOptions axis:i32 activation:i8
ReshapeOptions new_shape:[i32]
SqueezeOptions squeeze_dims:[i32]
SplitOptions num_splits:i32
SplitVOptions num_splits:i32
PackOptions values_count:i32 axis:i32
UnpackOptions num:i32 axis:i32
GatherOptions axis:i32 batch_dims:i32
OneHotOptions axis:i32
StridedSliceOptions begin_mask:i32 end_mask:i32 ellipsis_mask:i32 new_axis_mask:i32 shrink_axis_mask:i32 offset:bool
SpaceToDepthOptions block_size:i32
DepthToSpaceOptions block_size:i32
ResizeBilinearOptions new_height:- new_width:- align_corners:bool half_pixel_centers:bool
ResizeNearestNeighborOptions align_corners:bool half_pixel_centers:bool
MirrorPadOptions mode:i8
CumsumOptions exclusive:bool reverse:bool
BucketizeOptions boundaries:[f32]
ReverseSequenceOptions seq_dim:i32 batch_dim:i32
ReducerOptions keep_dims:bool
ArgMaxOptions output_type:i8
ArgMinOptions output_type:i8
ShapeOptions out_type:i8
UniqueOptions idx_out_type:i8=2
LSHProjectionOptions type:i8
RandomOptions seed:i64 seed2:i64
SVDFOptions rank:i32 activation:i8 asymmetric_quantize_inputs:bool
RNNOptions activation:i8 asymmetric_quantize_inputs:bool
SequenceRNNOptions time_major:bool activation:i8 asymmetric_quantize_inputs:bool
BidirectionalSequenceRNNOptions time_major:bool activation:i8 merge_outputs:bool asymmetric_quantize_inputs:bool
LSTMOptions activation:i8 cell_clip:f32 proj_clip:f32 kernel_type:i8 asymmetric_quantize_inputs:bool
UnidirectionalSequenceLSTMOptions activation:i8 cell_clip:f32 proj_clip:f32 time_major:bool asymmetric_quantize_inputs:bool diagonal_recurrent_tensors:bool
BidirectionalSequenceLSTMOptions activation:i8 cell_clip:f32 proj_clip:f32 merge_outputs:bool time_major:bool=1 asymmetric_quantize_inputs:bool
IfOptions then:i32 else:i32
WhileOptions condition:i32 body:i32
CallOnceOptions init:i32
VarHandleOptions container:text shared_name:text
StablehloConcatenateOptions dimension:i64
StablehloBroadcastInDimOptions broadcast_dimensions:[i64]
StablehloSliceOptions start_indices:[i64] limit_indices:[i64] strides:[i64]
StablehloConvolutionOptions window_strides:[i64] padding:[i64] lhs_dilation:[i64] rhs_dilation:[i64] window_reversal:[bool] input_batch_dimension:i64 input_feature_dimension:i64 input_spatial_dimensions:[i64] kernel_input_feature_dimension:i64 kernel_output_feature_dimension:i64 kernel_spatial_dimensions:[i64] output_batch_dimension:i64 output_feature_dimension:i64 output_spatial_dimensions:[i64] feature_group_count:i64 batch_group_count:i64 precision_config:-
StablehloCustomCallOptions call_target_name:text has_side_effect:bool backend_config:text api_version:i32 called_computations:[i32] custom_attributes:[u8]
StablehloReduceOptions dimensions:[i64] body:i32
StablehloCompareOptions comparison_direction:u32 compare_type:u32
StablehloDynamicSliceOptions slice_sizes:[i64]
StablehloPadOptions edge_padding_low:[i64] edge_padding_high:[i64] interior_padding:[i64]
StablehloIotaOptions iota_dimension:i64
StablehloDotGeneralOptions lhs_batching_dimensions:[i64] rhs_batching_dimensions:[i64] lhs_contracting_dimensions:[i64] rhs_contracting_dimensions:[i64] precision_config:-
StablehloReduceWindowOptions window_dimensions:[i64] window_strides:[i64] base_dilations:[i64] window_dilations:[i64] padding:[i64] body:i32
StablehloSortOptions dimension:i64 is_stable:bool comparator:i32
StablehloWhileOptions condition:i32 body:i32
StablehloGatherOptions offset_dims:[i64] collapsed_slice_dims:[i64] start_index_map:[i64] index_vector_dim:i64 slice_sizes:[i64] indices_are_sorted:bool
StablehloTransposeOptions permutation:[i64]
StableHLOCompositeOptions name:text decomposition:i32 attributes:[u8] attributes_format:i8 version:i32
`

// OptionUnion is the union of option tables: a table's code is its position,
// counted from 1.
var OptionUnion = strings.Fields(`
Conv2DOptions DepthwiseConv2DOptions ConcatEmbeddingsOptions LSHProjectionOptions Pool2DOptions SVDFOptions RNNOptions
FullyConnectedOptions SoftmaxOptions ConcatenationOptions AddOptions L2NormOptions LocalResponseNormalizationOptions
LSTMOptions ResizeBilinearOptions CallOptions ReshapeOptions SkipGramOptions SpaceToDepthOptions
EmbeddingLookupSparseOptions MulOptions PadOptions GatherOptions BatchToSpaceNDOptions SpaceToBatchNDOptions
TransposeOptions ReducerOptions SubOptions DivOptions SqueezeOptions SequenceRNNOptions StridedSliceOptions ExpOptions
TopKV2Options SplitOptions LogSoftmaxOptions CastOptions DequantizeOptions MaximumMinimumOptions ArgMaxOptions
LessOptions NegOptions PadV2Options GreaterOptions GreaterEqualOptions LessEqualOptions SelectOptions SliceOptions
TransposeConvOptions SparseToDenseOptions TileOptions ExpandDimsOptions EqualOptions NotEqualOptions ShapeOptions
PowOptions ArgMinOptions FakeQuantOptions PackOptions LogicalOrOptions OneHotOptions LogicalAndOptions
LogicalNotOptions UnpackOptions FloorDivOptions SquareOptions ZerosLikeOptions FillOptions
BidirectionalSequenceLSTMOptions BidirectionalSequenceRNNOptions UnidirectionalSequenceLSTMOptions FloorModOptions
RangeOptions ResizeNearestNeighborOptions LeakyReluOptions SquaredDifferenceOptions MirrorPadOptions AbsOptions
SplitVOptions UniqueOptions ReverseV2Options AddNOptions GatherNdOptions CosOptions WhereOptions RankOptions
ReverseSequenceOptions MatrixDiagOptions QuantizeOptions MatrixSetDiagOptions HardSwishOptions IfOptions WhileOptions
DepthToSpaceOptions NonMaxSuppressionV4Options NonMaxSuppressionV5Options ScatterNdOptions SelectV2Options
DensifyOptions SegmentSumOptions BatchMatMulOptions CumsumOptions CallOnceOptions BroadcastToOptions Rfft2dOptions
Conv3DOptions HashtableOptions HashtableFindOptions HashtableImportOptions HashtableSizeOptions VarHandleOptions
ReadVariableOptions AssignVariableOptions RandomOptions BucketizeOptions GeluOptions DynamicUpdateSliceOptions
UnsortedSegmentProdOptions UnsortedSegmentMaxOptions UnsortedSegmentMinOptions UnsortedSegmentSumOptions ATan2Options
SignOptions BitcastOptions BitwiseXorOptions RightShiftOptions`)

// OptionUnion2 is the second union of option tables, likewise.
var OptionUnion2 = strings.Fields(`
StablehloConcatenateOptions StablehloBroadcastInDimOptions StablehloSliceOptions StablehloConvolutionOptions StablehloCustomCallOptions
StablehloReduceOptions StablehloScatterOptions StablehloCompareOptions StablehloDynamicSliceOptions StablehloPadOptions StablehloIotaOptions
StablehloDotGeneralOptions StablehloReduceWindowOptions StablehloSortOptions StablehloWhileOptions StablehloGatherOptions
StablehloTransposeOptions DilateOptions StablehloRngBitGeneratorOptions ReduceWindowOptions StableHLOCompositeOptions`)

// Kind is the kind of a field's content.
type Kind uint8

const (
	Scalar Kind = iota
	Text
	Vector // of scalars
	SubTable
	Tables // vector of tables
	Union  // followed by whoever knows its kind
	Unread
)

// Field is one field of a table.
type Field struct {
	Name    string
	Kind    Kind
	Bytes   int // of a scalar or of an element
	Float   bool
	Of      *Table
	Initial float64 // the value of an absent scalar
}

// Table is a table's fields by id. Fields of the file beyond them are not
// read.
type Table struct {
	Name   string
	Fields []Field
}

var scalarBytes = map[string]int{"u8": 1, "i8": 1, "bool": 1, "u16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8}

// Types is the parsed text by name of table.
var Types = sync.OnceValue(func() map[string]*Table {
	types := map[string]*Table{}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	for _, l := range lines {
		name := strings.Fields(l)[0]
		types[name] = &Table{Name: name}
	}
	for _, l := range lines {
		words := strings.Fields(l)
		for _, w := range words[1:] {
			types[words[0]].Fields = append(types[words[0]].Fields, parseField(w, types))
		}
	}
	return types
})

func parseField(w string, types map[string]*Table) Field {
	name, kind, _ := strings.Cut(w, ":")
	kind, initial, _ := strings.Cut(kind, "=")
	f := Field{Name: name}
	if initial != "" {
		var err error
		if f.Initial, err = strconv.ParseFloat(initial, 64); err != nil {
			panic("schema: " + w)
		}
	}
	element, vector := strings.CutPrefix(strings.TrimSuffix(kind, "]"), "[")
	f.Float = element == "f32"
	switch f.Bytes, f.Of = scalarBytes[element], types[element]; {
	case kind == "-":
		f.Kind = Unread
	case kind == "union":
		f.Kind = Union
	case kind == "text":
		f.Kind, f.Bytes = Text, 1
	case f.Bytes > 0 && vector:
		f.Kind = Vector
	case f.Bytes > 0:
	case f.Of != nil && vector:
		f.Kind = Tables
	case f.Of != nil:
		f.Kind = SubTable
	default:
		panic("schema: " + w)
	}
	return f
}

// ID is the number of the named field. A name that the table lacks is a
// mistake of the importer.
func (t *Table) ID(name string) int {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("schema: %s has no field %q", t.Name, name))
}
