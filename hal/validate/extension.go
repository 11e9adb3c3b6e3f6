package validate

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
)

// Extension checks the description of a vendor extension: a name in reverse domain form,
// lower case, and operand types with numbers of their own and sizes.
func Extension(e hal.Extension) error {
	fail := func(format string, args ...any) error {
		return invalid(fmt.Errorf("validate: extension %q: %s", e.Name, fmt.Sprintf(format, args...)))
	}
	if !strings.Contains(e.Name, ".") {
		return fail("its name has no dot")
	}
	for _, c := range e.Name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.') {
			return fail("its name has the letter %q", c)
		}
	}
	seen := map[uint16]bool{}
	for _, t := range e.OperandTypes {
		if seen[t.Type] {
			return fail("operand type %d is there twice", t.Type)
		}
		if t.ByteSize == 0 {
			return fail("operand type %d has no size", t.Type)
		}
		seen[t.Type] = true
	}
	return nil
}
