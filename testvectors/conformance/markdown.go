package conformance

import (
	"bytes"
	"fmt"
	"strings"
)

// sections are the titles of the parts of the table, by the letter of their ids.
var sections = map[byte]string{
	'A': "The interfaces of the HAL", 'B': "Capabilities", 'C': "The runtime", 'D': "Utilities", 'E': "The test suites",
	'F': "The ML Test Suite", 'G': "Types and versions", 'H': "What other drivers do and their users meet", 'I': "Traps", 'J': "The life of a driver",
}

// Markdown is docs/CONFORMANCE.md: every row with the checks that prove it.
func Markdown() []byte {
	proofs := map[string][]string{}
	for _, c := range Checks() {
		name := c.Name
		if c.EachDevice {
			name += " (on each device)"
		}
		for _, id := range c.Rows {
			proofs[id] = append(proofs[id], name)
		}
	}
	var b bytes.Buffer
	rows := Rows()
	open := 0
	for _, r := range rows {
		if r.NotApplicable != "" {
			open++
		}
	}
	fmt.Fprintf(&b, `# Conformance

The obligations of NNAPI's HAL 1.0 to 1.3 and of its runtime, what its test suites ask and what
implementations get wrong, an id each, and the checks that prove
them. A row without check says why. Written by
`+"`nnsoc conformance --markdown`"+`; `+"`nnsoc conformance ROW`"+` runs the checks of a row.

%d rows, %d with checks.
`, len(rows), len(rows)-open)
	var section byte
	for _, r := range rows {
		if r.ID[0] != section {
			section = r.ID[0]
			fmt.Fprintf(&b, "\n## %c %s\n\n| row | what | proof |\n|---|---|---|\n", section, sections[section])
		}
		proof := strings.Join(proofs[r.ID], "; ")
		if r.NotApplicable != "" {
			proof = r.NotApplicable
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.ID, r.Title, strings.ReplaceAll(proof, "|", "\\|"))
	}
	return b.Bytes()
}
