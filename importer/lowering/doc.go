// Package lowering converts the operators of foreign graph formats to operations of NNAPI: it infers shapes, folds
// constants, adapts types that an operation of NNAPI does not accept, and holds scalars and tensors of more than four
// dimensions in shapes that NNAPI has. Importers share it; the meaning of operators is defined by each of them.
package lowering
