// Package sweep plans many runs that differ in keys of a SoC, in the network and in the
// device, and keeps their results. A plan is the cross product of values, a Latin hypercube
// of ranges or a list; its points are numbered, so that shards of it run on any host and an
// interrupted run resumes where it ended. Results are lines appended to a file per
// shard, and tables (CSV, Parquet) of all lines so far.
//
// It does not run anything: its caller does.
package sweep
