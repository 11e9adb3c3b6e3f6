// Package python parses the part of Python's syntax that specifications use into
// Starlark's syntax tree. Operators, methods and statements that mean something
// else in Python become calls of built-ins, whose names the Fn constants are; the caller
// provides them.
package python
