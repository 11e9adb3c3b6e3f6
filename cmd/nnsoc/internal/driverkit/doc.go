// Package driverkit is the command driver: templates and samples for driver authors.
package driverkit
