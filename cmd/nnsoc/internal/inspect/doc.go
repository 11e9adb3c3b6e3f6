// Package inspect is the commands that show what there is without judging a result: devices,
// capabilities, supported, models, ops, compile, graph and trace-summary, each in the file of its
// name.
package inspect
