// Package scenario runs several networks with deadlines on one simulated phone and compares the strategies that decide
// which engine computes what, and when.
//
// A Scenario says which networks arrive how often, with which deadline and priority; Jobs lists the arrivals. Measure
// runs each network alone on each engine. A Strategy makes a Plan from these costs: engines that are fixed beforehand,
// where each job starts when it arrives and queues in the drivers as on Android, or a Scheduler that is asked whenever
// an engine is free. Predict says what a plan should cost if engines did not disturb each other; Simulate runs it on
// one machine whose clocks, caches, DRAM and queues the networks share, and Report sums up both.
//
// Times are simulated and counted in femtoseconds from the beginning of the scenario, at which the phone is cold.
package scenario
