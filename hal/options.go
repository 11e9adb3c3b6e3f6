package hal

// Preference is the ExecutionPreference of a compilation.
type Preference int32

// Execution preferences of HAL 1.1.
const (
	LowPower Preference = iota
	FastSingleAnswer
	SustainedSpeed
)

// Validate returns an error with status INVALID_ARGUMENT for a value that is no
// preference.
func (p Preference) Validate() error {
	if p < LowPower || p > SustainedSpeed {
		return Errorf(InvalidArgument, "hal: no execution preference %d: LOW_POWER 0, FAST_SINGLE_ANSWER 1, SUSTAINED_SPEED 2", int32(p))
	}
	return nil
}

// Priority ranks the prepared models of one client.
type Priority int32

// Priorities of HAL 1.3.
const (
	PriorityLow Priority = iota
	PriorityMedium
	PriorityHigh
)

// Validate returns an error with status INVALID_ARGUMENT for a value that is no
// priority.
func (p Priority) Validate() error {
	if p < PriorityLow || p > PriorityHigh {
		return Errorf(InvalidArgument, "hal: no priority %d: LOW 0, MEDIUM 1, HIGH 2", int32(p))
	}
	return nil
}

// PrepareOptions steer PrepareModel.
type PrepareOptions struct {
	Preference Preference
	Priority   Priority
	// Deadline is the instant of the device's clock at which the prepared model is
	// worthless; nil is none.
	Deadline *TimePoint
	// Cache is where to save the prepared model; without files, nowhere.
	Cache Cache
	// Candidates are kernels to use instead of those that the driver's estimates prefer, by
	// operation of the model: names of a Choice. Where no kernel of that name is considered the
	// driver's own is used; Chooser lists the names.
	Candidates map[int]string
}

// Validate checks the options.
func (o PrepareOptions) Validate() error {
	if err := o.Preference.Validate(); err != nil {
		return err
	}
	return o.Priority.Validate()
}
