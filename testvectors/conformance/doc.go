// Package conformance proves the obligations of the NNAPI HAL and runtime row by row: rows.txt lists
// them with their ids, a Check proves some of them on every device or once, and a row
// with neither check nor reason fails a test. docs/CONFORMANCE.md is generated from both;
// nnsoc conformance runs the checks of a row.
//
// The rows are of six sections: A the HAL's interfaces, B capabilities, C the runtime, D
// utilities, E the vendor test suite, J the life of a driver.
package conformance
