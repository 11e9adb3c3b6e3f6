// Package partition decides which device runs which operation.
//
// A Problem is the input of a strategy: the graph of a model's operations, the
// operations that each device supports, the costs of operations and segments on each,
// and the objective. A Strategy assigns a device to each operation; Steps then
// groups neighbours on one device into the sub-models that are compiled, and
// Problem.Evaluate predicts latency, energy and traffic of the whole.
//
//	aosp           the rule of Android's runtime: capability ratios
//	single:DEVICE  everything that one device supports on it, the rest on the CPU
//	cpu            everything on the CPU
//	greedy-merge   the best device of each operation, then merging of segments that are not worth their transfers
//	dp             shortest path through operation x device; optimal on chains
//	mincut         expansion moves, each a minimum cut
//	branch-bound            branch and bound over at most 40 segments
//	pipeline       the shortest interval between results, for a stream of inputs
//	auto           the best of them by predicted cost
//	exec:PROGRAM   a program that reads the problem and writes its plan as JSON
//
// A plan costs, for each step, the device's fixed cost, a transfer for every
// byte that enters or leaves it, and its operations; a measured cost of the same
// segment replaces this sum. Steps start when their inputs are available and their
// device is free.
package partition
