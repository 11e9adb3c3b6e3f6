package inspect

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// legalized is a device with a table of its supported operations.
type legalized interface{ Facts() []legal.Fact }

// deviceRules is the table of a device.
type deviceRules struct {
	Device string    `json:"device"`
	Rows   []ruleRow `json:"rows"`
}

// ruleRow are operations and types with the same entries in a table.
type ruleRow struct {
	Operations []string `json:"operation_types"`
	Types      []string `json:"types"`
	Action     string   `json:"action"`
	Detail     string   `json:"detail,omitempty"` // operations of an expansion, type of a widening, reason of a refusal
	Rules      []string `json:"rules"`
}

// typedOperation is an operation with its key type.
type typedOperation struct {
	op nn.OperationType
	t  nn.OperandType
}

// actionsOf is the action in the table of each device by operation and type.
func actionsOf(list []hal.Device) map[typedOperation]map[string]string {
	takes := map[typedOperation]map[string]string{}
	for _, d := range list {
		l, ok := hal.As[legalized](d)
		if !ok {
			continue
		}
		for _, f := range l.Facts() {
			k := typedOperation{f.Operation, f.Type}
			if takes[k] == nil {
				takes[k] = map[string]string{}
			}
			takes[k][d.Name()] = f.Kind.String()
		}
	}
	return takes
}

// short is an action in a cell.
func short(action string) string {
	switch action {
	case "":
		return "?" // the device has no table
	case legal.Refused.String():
		return "-"
	}
	return action
}

// rulesOf are the tables of devices, facts that agree in one row.
func rulesOf(list []hal.Device) []deviceRules {
	all := []deviceRules{}
	for _, d := range list {
		l, ok := hal.As[legalized](d)
		if !ok {
			continue
		}
		if facts := l.Facts(); len(facts) > 0 {
			all = append(all, deviceRules{d.Name(), rows(facts)})
		}
	}
	return all
}

// rows joins the types of an operation, then the operations, with the same entries.
func rows(facts []legal.Fact) []ruleRow {
	var byType, list []ruleRow
	same := func(a, b *ruleRow) bool {
		return a.Action == b.Action && a.Detail == b.Detail && slices.Equal(a.Rules, b.Rules)
	}
	for i := range facts {
		r := rowOf(&facts[i])
		k := slices.IndexFunc(byType, func(x ruleRow) bool { return x.Operations[0] == r.Operations[0] && same(&x, &r) })
		if k < 0 {
			byType = append(byType, r)
			continue
		}
		byType[k].Types = append(byType[k].Types, r.Types...)
	}
	for _, r := range byType {
		slices.Sort(r.Types)
		k := slices.IndexFunc(list, func(x ruleRow) bool { return slices.Equal(x.Types, r.Types) && same(&x, &r) })
		if k < 0 {
			list = append(list, r)
			continue
		}
		list[k].Operations = append(list[k].Operations, r.Operations...)
	}
	rank := map[string]int{legal.Legally.String(): 0, legal.Widened.String(): 1, legal.Expanded.String(): 2, legal.Controlled.String(): 3, legal.Refused.String(): 4}
	slices.SortStableFunc(list, func(a, b ruleRow) int { return cmp.Compare(rank[a.Action], rank[b.Action]) })
	return list
}

func rowOf(f *legal.Fact) ruleRow {
	r := ruleRow{Operations: []string{f.Operation.String()}, Types: []string{ShortType(f.Type.String())}, Action: f.Kind.String(), Detail: f.Why, Rules: []string{}}
	r.Rules = append(r.Rules, f.Rules...)
	if f.Differs != "" {
		r.Rules = append(r.Rules, "differs from the reference by "+f.Differs)
	}
	var into []string
	for _, op := range f.Into {
		into = append(into, op.String())
	}
	switch f.Kind {
	case legal.Legally:
		if len(into) > 0 {
			r.Detail = "or to " + strings.Join(into, ", ") + " where that is cheaper"
		}
	case legal.Expanded:
		r.Detail = "to " + strings.Join(into, ", ")
	case legal.Widened:
		r.Detail = "to " + ShortType(f.To.String())
	}
	return r
}

// cells are the columns of a row of rules.
func (r *ruleRow) cells() []string {
	action := r.Action
	if r.Detail != "" && r.Action != legal.Refused.String() {
		action += " " + r.Detail
	}
	rules := r.Rules
	if r.Action == legal.Refused.String() {
		rules = []string{r.Detail}
	}
	return []string{strings.Join(r.Operations, ", "), strings.Join(r.Types, ", "), action, strings.Join(rules, "; ")}
}

// writeRules prints the tables as text, a paragraph per row.
func (r *OpsReport) writeRules(w io.Writer) (err error) {
	defer try.Catch(&err)
	for _, d := range r.Rules {
		try.V(fmt.Fprintf(w, "%s\n", d.Device))
		for i := range d.Rows {
			c := d.Rows[i].cells()
			try.V(fmt.Fprintf(w, "  %s\n    %s of %s\n", c[0], c[2], c[1]))
			if c[3] == "" {
				continue
			}
			try.V(fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(c[3], "; ", "\n    ")))
		}
	}
	return nil
}

// rulesMarkdown prints the tables as sections of a document.
func (r *OpsReport) rulesMarkdown(w io.Writer) error {
	for _, d := range r.Rules {
		if _, err := fmt.Fprintf(w, "\n## What the table of %s says\n\n| operations | types | action | rules |\n|---|---|---|---|\n", d.Device); err != nil {
			return err
		}
		for i := range d.Rows {
			if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(d.Rows[i].cells(), " | ")); err != nil {
				return err
			}
		}
	}
	return nil
}
