package nnrt

import "github.com/nnsoc/nnsoc/hal"

// Preference is the execution preference of a compilation; the zero value is NNAPI's
// default, hal.FastSingleAnswer. Prefer makes others.
type Preference struct{ given *hal.Preference }

// Prefer returns p as an option.
func Prefer(p hal.Preference) Preference { return Preference{&p} }

// HAL is the preference that drivers get.
func (p Preference) HAL() hal.Preference {
	if p.given == nil {
		return hal.FastSingleAnswer
	}
	return *p.given
}

// Priority is the priority of a compilation; the zero value is NNAPI's default,
// hal.PriorityMedium. Rank makes others.
type Priority struct{ given *hal.Priority }

// Rank returns p as an option.
func Rank(p hal.Priority) Priority { return Priority{&p} }

// HAL is the priority that drivers get.
func (p Priority) HAL() hal.Priority {
	if p.given == nil {
		return hal.PriorityMedium
	}
	return *p.given
}
