package run

import (
	"strings"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/bench/report/table"
)

// Words are the columns of run's tables with their meanings, each once.
func Words() []glossary.Word {
	var list []glossary.Word
	seen := map[string]bool{}
	list = columnWords(list, seen, deviceColumns)
	list = columnWords(list, seen, operationColumns)
	return columnWords(list, seen, typeColumns)
}

// columnWords adds the columns of a table that no table before it has.
func columnWords[R any](list []glossary.Word, seen map[string]bool, columns table.Columns[R]) []glossary.Word {
	for i := range columns {
		c := &columns[i]
		if c.Name == "" || seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		text := strings.ToUpper(c.Meaning[:1]) + c.Meaning[1:]
		if c.Unit != "" && c.Unit != "x" {
			text += ", in " + c.Unit
		}
		list = append(list, glossary.Word{Word: c.Name, Kind: glossary.Column, Text: text + "."})
	}
	return list
}
