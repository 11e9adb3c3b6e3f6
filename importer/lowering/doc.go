// Package lowering turns the operators of foreign graph formats into operations of NNAPI:
// it infers shapes, computes what is constant, adapts types that an operation of NNAPI
// does not take, and holds scalars and tensors of more than four dimensions in the shapes
// that NNAPI has. Importers share it; what an operator means is theirs.
package lowering
