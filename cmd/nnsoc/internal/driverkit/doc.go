// Package driverkit is the command driver: what the author of a driver begins with.
package driverkit
