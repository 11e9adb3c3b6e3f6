// Package partition decides which device runs which operation.
//
// A Problem is what a strategy sees: the graph of a model's operations, the
// devices with what each supports, what operations and segments cost on each,
// and the objective. A Strategy answers with a device per operation; Steps then
// groups neighbours on one device into the sub-models that are compiled, and
// Problem.Evaluate predicts latency, energy and traffic of the whole.
//
//	aosp           the rule of Android's runtime: capability ratios
//	single:DEVICE  all that one device supports there, the rest on the CPU
//	cpu            everything on the CPU
//	greedy-merge   the best device of each operation, then merging of segments that do not pay
//	dp             shortest path through operation x device; optimal on chains
//	mincut         expansion moves, each a minimum cut
//	branch-bound            branch and bound over at most 40 segments
//	pipeline       the shortest interval between results, for a stream of inputs
//	auto           the best of them by predicted cost
//	exec:PROGRAM   a program that reads the problem and writes its plan as JSON
//
// A plan costs, for each step, the device's fixed cost, a transfer for every
// byte that enters or leaves it, and its operations; where the cost of the very
// segment is known it takes the place of this sum. Steps start when what they
// read is there and their device is free.
package partition
