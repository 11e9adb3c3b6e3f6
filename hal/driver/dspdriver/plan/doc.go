// Package plan schedules a list of steps as jobs:
//
//	place.go              lifetimes and addresses of tensors
//	bands.go              steps whose tensors do not fit in L2 together, a band of rows at a time
//	l2.go                 what L2 likely holds between two steps
//	vtcm.go, dma_chain.go constants into VTCM, by a job or by DMA
//	lookahead.go          constants that jobs prefetch for later ones
//	prefetch_requests.go  code and rows of inputs that jobs prefetch for later ones
//
// It is independent of operations: steps launch themselves.
package plan
