package tflite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
	"github.com/nnsoc/nnsoc/internal/spelling"
)

// optionsText are the options of an operator that differ from their initial values, as messages have them:
// "(axis=1, batch_dims=1)", "" without any.
func optionsText(op flatbuffer.Table) string {
	field, union := "options", schema.OptionUnion
	if op.Has("options2") {
		field, union = "options2", schema.OptionUnion2
	}
	kind := op.Int(field+"_type") & 0xff
	if kind == 0 || kind > int64(len(union)) || !op.Has(field) {
		return ""
	}
	t := schema.Types()[union[kind-1]]
	if t == nil {
		return ""
	}
	options, ok, err := op.Union(field, t)
	if err != nil || !ok {
		return ""
	}
	var list []string
	for _, f := range t.Fields {
		if text := fieldText(options, &f); text != "" {
			list = append(list, f.Name+"="+text)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// fieldText is the value of a field, "" where it is the initial one.
func fieldText(t flatbuffer.Table, f *schema.Field) string {
	switch {
	case f.Kind == schema.Scalar && f.Float && float64(t.Float(f.Name)) != f.Initial:
		return strconv.FormatFloat(float64(t.Float(f.Name)), 'g', -1, 32)
	case f.Kind == schema.Scalar && !f.Float && float64(t.Int(f.Name)) != f.Initial:
		return strconv.FormatInt(t.Int(f.Name), 10)
	case f.Kind == schema.Text && t.Text(f.Name) != "":
		return strconv.Quote(t.Text(f.Name))
	case f.Kind == schema.Vector && t.Vector(f.Name).N > 8:
		return fmt.Sprintf("[%d elements]", t.Vector(f.Name).N)
	case f.Kind == schema.Vector && !f.Float && t.Vector(f.Name).N > 0:
		return strings.ReplaceAll(fmt.Sprint(t.Vector(f.Name).Ints()), " ", ",")
	}
	return ""
}

// insteadOfReason are the nearest things that work, by the reason for which an operator has no form.
var insteadOfReason = map[string]string{
	noTables:  "a GATHER from a constant, or numbers that the app looks up",
	noStrings: "numbers of words as inputs, looked up by the app",
	noRandom:  "the random numbers as an input of the network",
}

// insteadOf is the nearest thing that works in the place of a refused operator, "" where none is known.
func insteadOf(code int, custom string, row *builtin) string {
	switch {
	case row != nil:
		return insteadOfReason[row.lacks]
	case code != customCode:
		return "a converter of the schema's version 3 up to DILATE and REDUCE_WINDOW"
	}
	var known []string
	for name := range customs {
		known = append(known, name)
	}
	slices.Sort(known)
	if name := spelling.Closest(custom, known); name != "" {
		return name + " is read"
	}
	return "TensorFlow Lite's own operators in its place (the custom ones that are read: " + strings.Join(known, ", ") + ")"
}
