// Package clusters has clusters of CPU cores as devices of a partition.Problem, so that the pipelines of Pipe-it (Wang et
// al., IEEE TCAD 2020) can be planned: consecutive layers run on different clusters, each inference after the other,
// instead of each layer on all cores.
//
// A device is a number of cores of one cluster. Costs are those of refcpu/timing for an inference on these cores alone. Run
// simulates a stream of inferences through a plan: devices work beside each other, share the memory's bandwidth, and
// hand tensors over.
package clusters
