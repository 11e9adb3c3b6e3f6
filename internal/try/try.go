// Package try is for long chains of calls any of which may fail: a function whose calls are wrapped in E and V reads as
// the straight case, and a deferred Catch at the entry returns the first error. A panic of anything else continues.
// Functions that return through it are called below a Catch only. It ends one parser, reader or lowering of an operation;
// an exported function of any other package returns its errors (TestTry of internal/lint).
package try

// failure is the panic value of E and V.
type failure struct{ error }

// Failure is what E panics with, for a panic that stands where a function returns.
func Failure(err error) any { return failure{err} }

// E ends the function, and those that called it up to a Catch, with an error that is not nil.
func E(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// V is the value of a call without an error.
func V[T any](v T, err error) T {
	E(err)
	return v
}

// V2 is V for two values.
func V2[A, B any](a A, b B, err error) (A, B) {
	E(err)
	return a, b
}

// V4 is V for four values.
func V4[A, B, C, D any](a A, b B, c C, d D, err error) (A, B, C, D) {
	E(err)
	return a, b, c, d
}

// Catch is deferred: it stores the error that has ended the function.
func Catch(err *error) {
	switch x := recover().(type) {
	case nil:
	case failure:
		*err = x.error
	default:
		panic(x)
	}
}
