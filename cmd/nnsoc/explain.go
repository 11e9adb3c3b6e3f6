package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/run"
	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/nn"
)

// glossaryReport is the JSON object of explain.
type glossaryReport struct {
	SchemaVersion int             `json:"schema_version"`
	Glossary      []glossary.Word `json:"glossary"`
}

// newExplain returns the command explain.
func newExplain(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [WORD]...",
		Short: "say what a word of a report means",
		Long: `explain prints what parts of a latency, stall reasons, counters and columns of reports mean, and terms
of the field; without a word it lists all. Keys of a SoC have "nnsoc soc explain", operations "nnsoc ops".`,
		Example: "  nnsoc explain cpu_wake\n  nnsoc explain issue row hit\n  nnsoc explain --json",
		RunE: func(_ *cobra.Command, args []string) error {
			r := glossaryReport{SchemaVersion: cli.SchemaVersion}
			for _, word := range phrases(args) {
				found := glossary.Find(allWords(), word)
				if len(found) == 0 {
					return cli.Usage(unexplained(word))
				}
				r.Glossary = append(r.Glossary, found...)
			}
			if len(args) == 0 {
				r.Glossary = append(glossary.Words(), run.Words()...)
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, &r)
			}
			if len(args) == 0 {
				return listWords(a, r.Glossary)
			}
			for _, w := range r.Glossary {
				cause := ""
				if w.Class != "" {
					cause = ", cause: " + string(w.Class)
				}
				fmt.Fprintf(a.Out, "%s (%s%s)\n  %s\n", w.Word, w.Kind, cause, w.Text)
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
			for _, w := range allWords() {
				if strings.HasPrefix(w.Word, prefix) && !slices.Contains(names, w.Word) {
					names = append(names, w.Word)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// allWords returns the words of the glossary and the columns of tables.
func allWords() []glossary.Word { return append(glossary.All(), run.Words()...) }

// phrases joins arguments that are a word of several parts, such as row hit.
func phrases(args []string) (list []string) {
	words := allWords()
	for i := 0; i < len(args); i++ {
		n := min(3, len(args)-i)
		for n > 1 && len(glossary.Find(words, strings.Join(args[i:i+n], " "))) == 0 {
			n--
		}
		list = append(list, strings.Join(args[i:i+n], " "))
		i += n - 1
	}
	return list
}

// unexplained refuses a word that has no entry, with where it may have one.
func unexplained(word string) error {
	for t := nn.OperationType(0); t.Valid(); t++ {
		if strings.EqualFold(t.String(), word) {
			return fmt.Errorf("explain: %s is an operation: nnsoc ops lists those", t)
		}
	}
	if strings.ContainsAny(word, ".[") {
		return fmt.Errorf("explain: no word %q; of a key of the SoC, nnsoc soc explain %s says the meaning", word, word)
	}
	var names, near []string
	for _, w := range allWords() {
		names = append(names, w.Word)
		if len(word) >= 3 && strings.Contains(strings.ToLower(w.Word), strings.ToLower(word)) && !slices.Contains(near, w.Word) && len(near) < 6 {
			near = append(near, w.Word)
		}
	}
	hint := spelling.DidYouMean(word, names)
	if hint == "" && len(near) > 0 {
		hint = "; words with it: " + strings.Join(near, ", ")
	}
	return fmt.Errorf("explain: no word %q%s; nnsoc explain lists all", word, hint)
}

// listWords writes words by kind.
func listWords(a *cli.App, words []glossary.Word) error {
	for i, kind := range glossary.Kinds {
		if i > 0 {
			fmt.Fprintln(a.Out)
		}
		fmt.Fprintf(a.Out, "%s\n", strings.ToUpper(string(kind)))
		t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		for _, w := range words {
			if w.Kind == kind {
				fmt.Fprintf(t, "  %s\t%s\n", w.Word, strings.ReplaceAll(w.Text, "{cache}", "that cache"))
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}
