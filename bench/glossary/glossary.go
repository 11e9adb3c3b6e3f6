package glossary

import (
	"slices"
	"strings"
)

// Kind says what a word names.
type Kind string

// Kinds in the order in which lists have them. Columns have their meanings where they are stated, not here.
const (
	Part    Kind = "part of a latency"
	Reason  Kind = "stall reason"
	Row     Kind = "row of a table"
	Counter Kind = "counter"
	Column  Kind = "column of a table"
	Term    Kind = "term"
)

// Kinds are all, in the order of lists.
var Kinds = []Kind{Part, Reason, Row, Column, Counter, Term}

// Class is the cause that a part or a reason belongs to. A cause has one name in sentences and one colour in pictures.
type Class string

const (
	Engine     Class = "the engine works"
	Wait       Class = "waiting inside the engine"
	Memory     Class = "waiting for memory"
	WakeUp     Class = "waking up"
	Software   Class = "software around the engine"
	Visibility Class = "making memory visible"
	Busy       Class = "waiting for the engine"
	Idle       Class = "without work"
)

// Classes are all, in the order of legends.
var Classes = []Class{Engine, Wait, Memory, WakeUp, Software, Visibility, Busy, Idle}

// Word is an entry.
type Word struct {
	// Word is the name as reports write it. "{cache}" in it stands for each name of Caches.
	Word string `json:"name"`
	Kind Kind   `json:"kind"`
	// Class is the cause of a part or a reason, "" for other words.
	Class Class `json:"cause,omitempty"`
	// Text is one or more sentences. "{cache}" in it stands for the meaning of the cache that Word names.
	Text string `json:"meaning"`
}

// cacheMark stands for a cache in words and texts.
const cacheMark = "{cache}"

// Words are the entries in the order of lists, those of caches once for all caches.
func Words() []Word { return slices.Clone(words) }

// All are the entries, those of caches once for each cache.
func All() []Word {
	var list []Word
	for _, w := range words {
		if !strings.Contains(w.Word, cacheMark) {
			list = append(list, w)
			continue
		}
		for _, c := range Caches {
			of := w
			of.Word, of.Text = strings.ReplaceAll(w.Word, cacheMark, c.Name), strings.ReplaceAll(w.Text, cacheMark, c.Meaning)
			list = append(list, of)
		}
	}
	return list
}

// Find returns the entries of a word in a list, whatever its case: some words name a part and a counter, or a reason and a
// counter.
func Find(list []Word, word string) []Word {
	var found []Word
	for _, w := range list {
		if strings.EqualFold(w.Word, strings.TrimSpace(word)) {
			found = append(found, w)
		}
	}
	return found
}

// ClassOf returns the cause of a part of a latency or of a stall reason, Software for a part that has no entry: drivers
// from outside name their own.
func ClassOf(kind Kind, word string) Class {
	for i := range words {
		if w := &words[i]; w.Kind == kind && w.Word == word {
			return w.Class
		}
	}
	if kind == Part {
		return Software
	}
	return Wait
}
