package tflite

// Reasons of several operators.
const (
	noTables  = "NNAPI has no tables that outlive an operation"
	noStrings = "NNAPI has no strings"
	noRandom  = "NNAPI draws from categories only"
)

// absentBuiltins are the operators that no operations of NNAPI express.
var absentBuiltins = []builtin{
	{code: 29, name: "CONCAT_EMBEDDINGS", lacks: "TensorFlow Lite does not run it either"},
	{code: 30, name: "SKIP_GRAM", lacks: noStrings},
	{code: 31, name: "CALL", lacks: "TensorFlow Lite does not run it either"},
	{code: 33, name: "EMBEDDING_LOOKUP_SPARSE", lacks: "NNAPI has no sparse lookup"},
	{code: 51, name: "DELEGATE", lacks: "it belongs to another runtime"},
	{code: 127, name: "PLACEHOLDER_FOR_GREATER_OP_CODES", lacks: "it is no operator"},
	{code: 136, name: "HASHTABLE", lacks: noTables},
	{code: 137, name: "HASHTABLE_FIND", lacks: noTables},
	{code: 138, name: "HASHTABLE_IMPORT", lacks: noTables},
	{code: 139, name: "HASHTABLE_SIZE", lacks: noTables},
	{code: 146, name: "RANDOM_STANDARD_NORMAL", lacks: noRandom},
	{code: 148, name: "RANDOM_UNIFORM", lacks: noRandom},
	{code: 149, name: "MULTINOMIAL", lacks: "its seeds are options, NNAPI's draws depend on seeds at execution"},
	{code: 167, name: "STABLEHLO_RESHAPE", lacks: stableHLO},
	{code: 168, name: "STABLEHLO_CLAMP", lacks: stableHLO},
	{code: 169, name: "STABLEHLO_CONCATENATE", lacks: stableHLO},
	{code: 170, name: "STABLEHLO_BROADCAST_IN_DIM", lacks: stableHLO},
	{code: 171, name: "STABLEHLO_CONVOLUTION", lacks: stableHLO},
	{code: 172, name: "STABLEHLO_SLICE", lacks: stableHLO},
	{code: 173, name: "STABLEHLO_CUSTOM_CALL", lacks: stableHLO},
	{code: 174, name: "STABLEHLO_REDUCE", lacks: stableHLO},
	{code: 176, name: "STABLEHLO_AND", lacks: stableHLO},
	{code: 183, name: "STABLEHLO_OR", lacks: stableHLO},
	{code: 185, name: "STABLEHLO_REMAINDER", lacks: stableHLO},
	{code: 187, name: "STABLEHLO_SELECT", lacks: stableHLO},
	{code: 190, name: "STABLEHLO_SCATTER", lacks: stableHLO},
	{code: 191, name: "STABLEHLO_COMPARE", lacks: stableHLO},
	{code: 192, name: "STABLEHLO_CONVERT", lacks: stableHLO},
	{code: 193, name: "STABLEHLO_DYNAMIC_SLICE", lacks: stableHLO},
	{code: 194, name: "STABLEHLO_DYNAMIC_UPDATE_SLICE", lacks: stableHLO},
	{code: 195, name: "STABLEHLO_PAD", lacks: stableHLO},
	{code: 196, name: "STABLEHLO_IOTA", lacks: stableHLO},
	{code: 197, name: "STABLEHLO_DOT_GENERAL", lacks: stableHLO},
	{code: 198, name: "STABLEHLO_REDUCE_WINDOW", lacks: stableHLO},
	{code: 199, name: "STABLEHLO_SORT", lacks: stableHLO},
	{code: 200, name: "STABLEHLO_WHILE", lacks: stableHLO},
	{code: 201, name: "STABLEHLO_GATHER", lacks: stableHLO},
	{code: 202, name: "STABLEHLO_TRANSPOSE", lacks: stableHLO},
	{code: 204, name: "STABLEHLO_RNG_BIT_GENERATOR", lacks: stableHLO},
	{code: 205, name: "REDUCE_WINDOW", lacks: "NNAPI has no windows over any dimension"},
}

const stableHLO = "operators of StableHLO are no operators of TensorFlow Lite"
