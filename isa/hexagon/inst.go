package hexagon

// Form returns the table row of the operation. It must be a valid operation.
func (op Op) Form() *Form { return &forms[op] }

// String returns the LLVM tag.
func (op Op) String() string {
	if op == opNone || op >= numOps {
		return "invalid"
	}
	return forms[op].Name
}

// NumOps is one more than the largest operation number: the size of a table indexed by Op.
const NumOps = int(numOps)

// Forms returns all forms in table order. The slice must not be written to.
func Forms() []Form { return forms[1:] }

// Has reports whether the form has any of the flags.
func (f *Form) Has(fl Flags) bool { return f.Flags&fl != 0 }

// IsHVX reports whether the form is a vector instruction.
func (f *Form) IsHVX() bool { return f.Flags&FlagHVX != 0 }
