package ethosu

import (
	"fmt"
	"io"
	"strings"
)

// WriteManual writes the command table as Markdown.
func WriteManual(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Ethos-U55/U65 commands\n\nGenerated from `isa/ethosu/table.go` by `go generate ./isa/ethosu`. Do not edit.\n\n" +
		"Word 0 holds the code in bits 9:0, bit 14 for commands with a payload word, and the parameter in bits 31:16. " +
		"Registers keep their value until rewritten. Addresses have bits 39:32 in the parameter's low byte (U65 only).\n")
	title := ""
	for i := range forms {
		f := &forms[i]
		t := "Registers, 16 bits in the parameter"
		if f.Code.HasPayload() {
			t = "Registers with a payload word"
		} else if f.Class == ClassOp {
			t = "Operations"
		}
		if t != title {
			title = t
			fmt.Fprintf(&b, "\n## %s\n\n| code | name | kind | parameter | meaning |\n|---|---|---|---|---|\n", title)
		}
		var fields []string
		for _, x := range f.Fields {
			if x.Bits == 16 {
				fields = append(fields, x.Meaning)
				continue
			}
			pos := fmt.Sprintf("[%d:%d]", x.Lo+x.Bits-1, x.Lo)
			if x.Bits == 1 {
				pos = fmt.Sprintf("[%d]", x.Lo)
			}
			fields = append(fields, fmt.Sprintf("%s %s: %s", pos, x.Name, x.Meaning))
		}
		name := f.FullName()
		if f.U65Only {
			name += " (U65)"
		}
		fmt.Fprintf(&b, "| %03x | %s | %s | %s | %s |\n", uint16(f.Code&^payloadBit), name, f.Class, strings.Join(fields, "; "), f.Meaning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
