package tflite

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
)

// Signature is a way to call a file: a subgraph, under a name of its own, with names for its inputs and outputs.
// Exporters of today write several, as "prefill" and "decode" of a language model.
type Signature struct {
	Key             string
	Subgraph        int
	Inputs, Outputs []string
}

func (s Signature) String() string {
	return fmt.Sprintf("%q (%s -> %s)", s.Key, strings.Join(s.Inputs, ", "), strings.Join(s.Outputs, ", "))
}

// Signatures returns the signatures of a model file in its order, none where it has none.
func Signatures(data []byte) ([]Signature, error) {
	root, err := openModel(data)
	if err != nil {
		return nil, err
	}
	return signaturesOf(root), nil
}

func signaturesOf(root flatbuffer.Table) (l []Signature) {
	for i := range root.Tables("signature_defs") {
		t := root.TableAt("signature_defs", i)
		l = append(l, Signature{t.Text("signature_key"), int(t.Int("subgraph_index")), mapNames(t, "inputs"), mapNames(t, "outputs")})
	}
	return l
}

func mapNames(t flatbuffer.Table, field string) (l []string) {
	for i := range t.Tables(field) {
		l = append(l, t.TableAt(field, i).Text("name"))
	}
	return l
}

// choose returns the subgraph to convert, and sets the names of its inputs and outputs: those of the signature that the
// options name, else subgraph 0 with the names of its tensors.
func (im *importer) choose(o *Options) error {
	list := signaturesOf(im.root)
	if o.Signature == "" {
		im.noteSignatures(list, o.Note)
		return nil
	}
	for i, s := range list {
		if s.Key != o.Signature {
			continue
		}
		if n := im.root.Tables("subgraphs"); s.Subgraph < 0 || s.Subgraph >= n {
			return &Error{Format: format, Err: fmt.Errorf("signature %q is of subgraph %d of %d", s.Key, s.Subgraph, n)}
		}
		t := im.root.TableAt("signature_defs", i)
		im.entry, im.inputNames, im.outputNames = s.Subgraph, tensorNames(t, "inputs"), tensorNames(t, "outputs")
		return nil
	}
	if len(list) == 0 {
		return &Error{Format: format, Err: fmt.Errorf("has no signatures, one is asked for: %q", o.Signature)}
	}
	return &Error{Format: format, Err: fmt.Errorf("has no signature %q; there are %s", o.Signature, textOf(list))}
}

// noteSignatures says which network is taken of a file whose signatures are of several subgraphs.
func (im *importer) noteSignatures(list []Signature, note func(text string)) {
	several, first := false, "no signature"
	for i, s := range list {
		several = several || s.Subgraph != list[0].Subgraph
		if s.Subgraph == 0 && first == "no signature" {
			first = fmt.Sprintf("signature %q", list[i].Key)
		}
	}
	if several && note != nil {
		note(fmt.Sprintf("%d signatures, the network is subgraph 0, that of %s; --signature chooses of %s", len(list), first, textOf(list)))
	}
}

// textOf lists signatures, the first of many.
func textOf(list []Signature) string {
	const most = 12
	var l []string
	for i, s := range list {
		if i == most {
			l = append(l, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		l = append(l, s.String())
	}
	return strings.Join(l, ", ")
}

// tensorNames are the names that a signature gives to tensors.
func tensorNames(t flatbuffer.Table, field string) map[int]string {
	names := map[int]string{}
	for i := range t.Tables(field) {
		m := t.TableAt(field, i)
		names[int(m.Int("tensor_index"))] = m.Text("name")
	}
	return names
}
