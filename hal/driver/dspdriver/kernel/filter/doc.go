// Package filter has the constants of convolutions: filters in one unsigned form, biases and
// requantization, and the common head of their records.
package filter
