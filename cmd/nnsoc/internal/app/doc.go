// Package app is the command app: it starts a program of somebody else on a simulated phone and reports what the program
// did with NNAPI.
package app
