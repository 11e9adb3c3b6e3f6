// Package budget measures the simulator's own speed. Each row of the budget is a ratio: the user CPU
// time of a task over that of a yardstick, measured in the same round in the same process or a child
// of it, so that the figure means the same on every host. A row whose ratio exceeds its goal is not met.
//
// Yardsticks are the reference CPU, one execution of the same network on the same device, qemu-hexagon on the same
// program, a loop of portable Go and a copy of memory. On amd64 the command runs with AVX-512 off: with it the
// reference needs a third of its time on AVX2 hosts, the devices do not, and no ratio would hold on both.
//
// Compare alternates between two builds, round by round, and lists the rows that got slower.
package budget
