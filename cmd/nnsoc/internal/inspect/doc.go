// Package inspect is the commands that print models, devices and programs without judging results: devices,
// capabilities, supported, models, ops, compile, graph and trace-summary, each in the file of its
// name.
package inspect
