package hexagon

import "strings"

// Products is the number of multiplications that one execution of the form makes in the vector multipliers: lanes of the
// widest element it multiplies, twice that for a pair of source vectors. Other forms make none.
func (f *Form) Products() int {
	if !f.IsHVX() {
		return 0
	}
	_, call, ok := strings.Cut(f.Syntax, "= v")
	if !ok {
		return 0
	}
	name, args, _ := strings.Cut(call, "(")
	switch {
	case strings.HasPrefix(name, "rmpy"), strings.HasPrefix(name, "mpy"), strings.HasPrefix(name, "mpa"),
		strings.HasPrefix(name, "dmpy"), strings.HasPrefix(name, "tmpy"):
	default:
		return 0
	}
	lanes := 0
	for _, e := range [...]struct {
		types string
		lanes int
	}{{".w .uw", 32}, {".h .uh", 64}, {".b .ub", 128}} {
		for _, t := range strings.Fields(e.types) {
			if lanes == 0 && (strings.Contains(args, t+",") || strings.Contains(args, t+")")) {
				lanes = e.lanes
			}
		}
	}
	pairIn, pairOut := strings.HasPrefix(args, "Vuu"), strings.HasPrefix(f.Syntax, "Vdd") || strings.HasPrefix(f.Syntax, "Vxx")
	if strings.HasPrefix(f.Syntax, "Vdddd") || strings.HasPrefix(f.Syntax, "Vyyyy") { // a word of the Z window for each result
		lanes *= 4
	}
	if strings.Contains(args, "Rtt.") { // a word for the even and one for the odd results
		lanes *= 2
	}
	if pairIn && (pairOut || name != "dmpy") { // vdmpy of a pair into one vector uses half of each
		lanes *= 2
	}
	return lanes
}
