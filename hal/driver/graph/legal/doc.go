// Package legal holds the table of what a device accepts: a row per family of operations and
// element types with an action, in the manner of LLVM's TargetLoweringBase::setOperationAction.
//
//	Legal(lower)       the device lowers the operation by this function
//	Expand(pass, ...)  a pass of package pass replaces it by these operations, which have rows of their own
//	Legal(lower).Or(pass, ...)  by this function, or by a pass where that is cheaper
//	Widen(type, lower) as Legal, but the device computes with another type
//	Control()          the driver runs the subgraphs of an IF or WHILE between programs
//	Refuse(why)        the device does not accept it
//
// Support queries, lowering, refusals, `nnsoc ops` and docs/OPERATIONS.md are derived from the table.
// New refuses a table in which an operation and a type of NNAPI have no row or two, an action has
// no function, or an expansion ends in what the table refuses: nothing has a meaning by default.
package legal
