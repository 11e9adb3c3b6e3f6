// Package serving is the command serve, and its options between clients and a driver: another
// name, refused operations, a record of every request, and scheduling of requests.
package serving
