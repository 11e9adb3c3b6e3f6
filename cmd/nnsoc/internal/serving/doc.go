// Package serving is the command serve, and what it can put between clients and a driver: another
// name, operations that are refused, a record of every request, and an order of requests.
package serving
