// Package partition is the command partition: strategies that divide a network among the devices,
// predicted and simulated. Its planner divides networks for run --device auto as well.
package partition
