// Package scheduling is the command schedule: several networks with deadlines on one phone, by strategy.
package scheduling
