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
	{code: 190, name: "STABLEHLO_SCATTER", lacks: "NNAPI has no scattering into places known only during execution"},
	{code: 204, name: "STABLEHLO_RNG_BIT_GENERATOR", lacks: noRandom},
	{code: 205, name: "REDUCE_WINDOW", lacks: "NNAPI has no windows over any dimension"},
}
