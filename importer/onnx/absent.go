package onnx

// Reasons that several operators share.
const (
	noStrings   = "NNAPI has no strings"
	noSequences = "NNAPI has no sequences of tensors"
	noRandom    = "NNAPI draws from categories only"
	noBits      = "NNAPI has no operations on bits of integers"
	noFourier   = "NNAPI has no Fourier transform"
	noTraining  = "it belongs to training"
	noClassic   = "operators of classic machine learning are none of networks"
)

// absentOperators are the operators that no operations of NNAPI express.
var absentOperators = []operator{
	{name: "BitShift", lacks: noBits},
	{name: "BitwiseAnd", lacks: noBits},
	{name: "BitwiseNot", lacks: noBits},
	{name: "BitwiseOr", lacks: noBits},
	{name: "BitwiseXor", lacks: noBits},
	{name: "DFT", lacks: noFourier},
	{name: "STFT", lacks: noFourier},
	{name: "MelWeightMatrix", lacks: "NNAPI makes no filter banks"},
	{name: "HannWindow", lacks: "NNAPI makes no windows of signals"},
	{name: "HammingWindow", lacks: "NNAPI makes no windows of signals"},
	{name: "BlackmanWindow", lacks: "NNAPI makes no windows of signals"},
	{name: "NonZero", lacks: "NNAPI has no operation whose result has as many elements as are not zero"},
	{name: "Unique", lacks: "NNAPI has no operation whose result has as many elements as differ"},
	{name: "NonMaxSuppression", lacks: "NNAPI suppresses boxes by class and score together only"},
	{name: "RandomNormal", lacks: noRandom},
	{name: "RandomNormalLike", lacks: noRandom},
	{name: "RandomUniform", lacks: noRandom},
	{name: "RandomUniformLike", lacks: noRandom},
	{name: "Bernoulli", lacks: noRandom},
	{name: "Multinomial", lacks: "its seed is an attribute, NNAPI's draws depend on seeds at execution"},
	{name: "SequenceAt", lacks: noSequences},
	{name: "SequenceConstruct", lacks: noSequences},
	{name: "SequenceEmpty", lacks: noSequences},
	{name: "SequenceErase", lacks: noSequences},
	{name: "SequenceInsert", lacks: noSequences},
	{name: "SequenceLength", lacks: noSequences},
	{name: "SequenceMap", lacks: noSequences},
	{name: "SplitToSequence", lacks: noSequences},
	{name: "ConcatFromSequence", lacks: noSequences},
	{name: "Optional", lacks: noSequences},
	{name: "OptionalGetElement", lacks: noSequences},
	{name: "OptionalHasElement", lacks: noSequences},
	{name: "StringNormalizer", lacks: noStrings},
	{name: "StringConcat", lacks: noStrings},
	{name: "StringSplit", lacks: noStrings},
	{name: "RegexFullMatch", lacks: noStrings},
	{name: "TfIdfVectorizer", lacks: "NNAPI counts no sequences of words"},
	{name: "ImageDecoder", lacks: "NNAPI decodes no pictures"},
	{name: "NegativeLogLikelihoodLoss", lacks: noTraining},
	{name: "SoftmaxCrossEntropyLoss", lacks: noTraining},
	{name: "Adagrad", domain: "ai.onnx.preview.training", lacks: noTraining},
	{name: "Adam", domain: "ai.onnx.preview.training", lacks: noTraining},
	{name: "Momentum", domain: "ai.onnx.preview.training", lacks: noTraining},
	{name: "Gradient", domain: "ai.onnx.preview.training", lacks: noTraining},
	{name: "ArrayFeatureExtractor", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "Binarizer", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "LinearClassifier", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "LinearRegressor", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "TreeEnsembleClassifier", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "TreeEnsembleRegressor", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "Scaler", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "ZipMap", domain: "ai.onnx.ml", lacks: noClassic},
}
