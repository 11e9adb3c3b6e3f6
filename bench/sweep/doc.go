// Package sweep plans many runs that differ in keys of a SoC, in the network and in the
// device, and keeps their results. A plan is the cross product of values, a Latin hypercube
// of ranges or a list; its points are numbered, so that shards of it run anywhere and a run
// that was interrupted goes on where it ended. Results are lines appended to a file per
// shard, and tables (CSV, Parquet) made of all lines that are there.
//
// It does not run anything: its caller does.
package sweep
