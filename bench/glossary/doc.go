// Package glossary holds the words of nnsoc's reports with one text each: parts of a latency, stall reasons, counters of
// the engines, rows of tables, and terms of the field. The command explain, docs/Glossary.md and the tooltips of a
// report's page print these texts; none has a second one.
package glossary
