// Package datamove has the kernels that move bytes without computing: copies of
// runs, fills, byte permutations, transposes, and the jobs that bring constants to
// the caches and to VTCM.
package datamove
