// Package cputimes holds the simulated CPU to measured ones: whole networks and single kernels
// on core sets of phones, as public measurements have them, beside what the model of
// package refcpu/timing says.
package cputimes
