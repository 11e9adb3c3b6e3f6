// Package mlts measures like Android's NNAPI benchmark app, the ML Test Suite: the latency, accuracy and time to
// compile of the networks of a models list on each backend.
//
// A List is a models list of AOSP (list.go); a TestSet holds the inputs of a model
// and its expected outputs (testset.go, pictures.go). Run performs the app's
// loops in the time of a simulated phone (run.go, loop.go), evaluators
// judge the outputs (evaluators.go), and a ResultFile is the app's own CSV, which the
// page generator of AOSP reads (csv.go).
//
// Latencies are simulated time. Only the first inputs of a test set are timed, alternating; accuracy counts all of
// them (D-980).
package mlts
