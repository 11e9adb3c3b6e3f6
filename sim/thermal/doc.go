// Package thermal is heat in a phone: a network of heat capacities and thermal
// resistances between the dies, where power becomes heat, and the ambient air, and the
// rules that lower clocks when a sensor is hot.
//
// It does not model heat conduction inside a node, radiation, or resistances that
// change with temperature. The networks and rules are part of the machine description
// (sim/soc), where each number names its source.
package thermal
