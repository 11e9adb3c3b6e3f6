// Package lint holds rules over the whole module: who may import whom, which inputs of an operation are read by
// name, which functions end by package try, zero values of enumerations, tolerances that NaN does not meet, tables
// in docs and rows of DEVIATIONS. All of it is tests; each walks the module from its root.
package lint
