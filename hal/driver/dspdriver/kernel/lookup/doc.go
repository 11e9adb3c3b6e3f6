// Package lookup has the kernels that read indexes or keys in memory: GATHER,
// EMBEDDING_LOOKUP, HASHTABLE_LOOKUP.
package lookup
