// Package python reads the part of Python's syntax that specifications use, and makes
// Starlark's syntax tree of it. Operators, methods and statements that mean something
// else in Python become calls of built-ins, whose names the Fn constants are; the caller
// provides them.
package python
