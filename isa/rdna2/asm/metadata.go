package asm

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// metadata converts the YAML of .amdgpu_metadata to a note.
func (a *assembler) metadata() {
	a.inYAML = false
	var root map[string]any
	if err := yaml.Unmarshal([]byte(strings.Join(a.yaml, "\n")), &root); err != nil {
		text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
		if _, at := fmt.Sscanf(text, "line %d:", &line); at == nil {
			a.line += line - len(a.yaml) - 1
			text = strings.TrimPrefix(text, fmt.Sprintf("line %d: ", line))
		}
		fail("metadata: %s", text)
	}
	note, err := codeobject.PackMetadata(root)
	if err != nil {
		fail("%s", strings.TrimPrefix(err.Error(), "codeobject: "))
	}
	a.unit.Note = note
}
