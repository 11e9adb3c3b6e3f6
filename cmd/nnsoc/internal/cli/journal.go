package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Journal keeps the parts of a long command in a file of JSON lines, which grows as they end: a command that was stopped goes on
// with the rest. Its first line says what the others belong to. A journal without a file keeps nothing.
type Journal struct {
	mu   sync.Mutex
	file *os.File
}

// JournalKind says what a journal holds, for messages: Lines such as "scores", and what they Depend on, such as "model or SoC".
type JournalKind struct{ Lines, Depend string }

// OpenJournal opens a file or makes it, and calls known with each line that is there. A line that was cut off, the last one of a
// command that was stopped, is dropped; a file that begins otherwise, or whose first line is not the same, is left alone. "" is no file.
func OpenJournal[H, L any](path string, kind JournalKind, first H, same func(was H) bool, known func(L)) (_ *Journal, err error) {
	j := &Journal{}
	if path == "" {
		return j, nil
	}
	head, err := json.Marshal(first)
	if err != nil {
		return nil, err
	}
	whole, rest, err := readJournal(path, head, kind, same, known)
	if err != nil {
		return nil, Usage(err)
	}
	// Lines are appended, so that several commands can share a file.
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err != nil {
		return nil, Usage(err)
	}
	if rest > 0 {
		err = j.file.Truncate(whole)
	}
	if err == nil && whole == 0 {
		_, err = j.file.Write(append(head, '\n'))
	}
	if err != nil {
		j.Close()
		return nil, Usage(err)
	}
	return j, nil
}

// maxJournalLine bounds the bytes of a line.
const maxJournalLine = 1 << 20

// readJournal reads the whole lines of a file; it returns their bytes and those of the line that was cut off.
func readJournal[H, L any](path string, head []byte, kind JournalKind, same func(was H) bool, known func(L)) (whole int64, rest int, err error) {
	old, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	} else if err != nil {
		return 0, 0, err
	}
	defer old.Close()
	in := bufio.NewReaderSize(old, maxJournalLine)
	for n := 1; ; n++ {
		fail := func(err error) (int64, int, error) { return 0, 0, fmt.Errorf("%s: line %d: %w", path, n, err) }
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return fail(fmt.Errorf("a line of more than %d bytes", maxJournalLine))
		case errors.Is(err, io.EOF) && n == 1 && !bytes.HasPrefix(head, line):
			return fail(errors.New("no file of " + kind.Lines))
		case errors.Is(err, io.EOF):
			return whole, len(line), nil
		case err != nil:
			return fail(err)
		}
		whole += int64(len(line))
		if n == 1 {
			var was H
			if err := json.Unmarshal(line, &was); err != nil {
				return fail(errors.New("no file of " + kind.Lines))
			}
			if !same(was) {
				return fail(fmt.Errorf("%s of another %s: %s", kind.Lines, kind.Depend, bytes.TrimSpace(line)))
			}
			continue
		}
		var x L
		if err := json.Unmarshal(line, &x); err != nil {
			return fail(err)
		}
		known(x)
	}
}

// Write appends a line. It may be called from several goroutines.
func (j *Journal) Write(line any) error {
	if j.file == nil {
		return nil
	}
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.file.Write(append(b, '\n'))
	return err
}

// Close closes the file.
func (j *Journal) Close() {
	if j.file != nil {
		j.file.Close()
	}
}
