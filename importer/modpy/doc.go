// Package modpy runs the NNAPI test specifications of Android (files named
// *.mod.py) unchanged, and returns their test cases in the form of package
// vectors: models, inputs and expected outputs.
//
// A specification is a Python program over a small set of classes (Model, Input, Parameter, Output, Example and
// others). Package internal/python tokenizes and parses the subset of Python that specifications are written in, and
// builds the syntax tree that go.starlark.net compiles and runs. Where Starlark and Python differ (power, comparison,
// several *args, multi-dimensional slices, string formatting, arithmetic on arrays) the tree calls built-in functions
// of package internal/language. Modules that specifications import (math, copy, itertools, collections, functools,
// operator, random, sys, numpy) exist as far as specifications use them; random numbers are CPython's and NumPy's.
// Packages internal/numpy and internal/random have those, internal/builtin the parts common to all.
//
// After the program has run, every Example is expanded: each feed dictionary
// with each combination of its variations (data type, layout, axis, activation,
// relaxed precision), and, where the example does not forbid it, the models
// whose constant tensors become inputs and whose inputs become internal.
// Names, order and values of the cases are those of Android's own generator.
//
// Not modelled: classes, exceptions, generators (a generator expression is a
// list), decorators, global and nonlocal statements. Each is an error that names
// file, line and construct. A specification may be hostile: source size, nesting,
// steps, call depth, values allocated and expanded cases are bounded (limits.go, and internal/builtin).
package modpy
