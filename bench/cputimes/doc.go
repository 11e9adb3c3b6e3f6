// Package cputimes compares the simulated CPU with measured ones: public measurements of whole
// networks and single kernels on core sets of phones, beside the estimates of package
// refcpu/timing.
package cputimes
