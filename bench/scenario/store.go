package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Store is a folder of results of scenarios: a line for each, in a file per shard. A run that was interrupted resumes
// where it ended.
type Store struct {
	dir   string
	lines *os.File
	done  map[string]bool
}

// Entry is a line of a store.
type Entry struct {
	Key   string          `json:"key"` // of the scenario and the way in which it ran
	Index int             `json:"index"`
	Data  json.RawMessage `json:"data"`
}

// maxLine bounds a line of results.
const maxLine = 16 << 20

// OpenStore makes the folder, or finds the results that are there. A line that a killed process has not finished is
// removed.
func OpenStore(dir string, shard, shards int) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &Store{dir: dir, done: map[string]bool{}}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("scenarios-%d-of-%d.jsonl", shard, shards)), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	whole, err := readEntries(f, func(*Entry) {})
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err == nil {
		var all []Entry
		all, err = s.Entries()
		for i := range all {
			s.done[all[i].Key] = true
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.lines = f
	return s, nil
}

// Close ends the work on the shard.
func (s *Store) Close() error { return errors.Join(s.lines.Sync(), s.lines.Close()) }

// Done reports whether the results of a key were there when the store was opened.
func (s *Store) Done(key string) bool { return s.done[key] }

// Add appends results in one write, so that they are there whole or not at all.
func (s *Store) Add(key string, index int, results any) error {
	data, err := json.Marshal(results)
	if err != nil {
		return err
	}
	line, err := json.Marshal(&Entry{key, index, data})
	if err != nil {
		return err
	}
	_, err = s.lines.Write(append(line, '\n'))
	return err
}

// Entries are the results of all shards so far, by index, each key once.
func (s *Store) Entries() (all []Entry, err error) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, x := range files {
		if match, _ := filepath.Match("scenarios-*.jsonl", x.Name()); !match {
			continue
		}
		f, err := os.Open(filepath.Join(s.dir, x.Name()))
		if err != nil {
			return nil, err
		}
		_, err = readEntries(f, func(e *Entry) {
			if !known[e.Key] {
				known[e.Key] = true
				all = append(all, *e)
			}
		})
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Index - b.Index })
	return all, nil
}

// readEntries calls f with each whole line and returns the bytes of those.
func readEntries(r *os.File, f func(*Entry)) (whole int64, err error) {
	size, err := r.Stat()
	if err != nil {
		return 0, err
	}
	data := make([]byte, 0, 1<<16)
	buf := make([]byte, 1<<16)
	for n := 1; whole < size.Size(); {
		k, err := r.Read(buf)
		data = append(data, buf[:k]...)
		for {
			end := bytes.IndexByte(data, '\n')
			if end < 0 {
				break
			}
			var e Entry
			if err := json.Unmarshal(data[:end], &e); err != nil {
				return 0, fmt.Errorf("%s:%d: no line of results, without it the scenario runs again: %w", r.Name(), n, err)
			}
			f(&e)
			whole, data, n = whole+int64(end)+1, data[end+1:], n+1
		}
		if len(data) > maxLine {
			return 0, fmt.Errorf("%s:%d: a line of more than %d bytes", r.Name(), n, maxLine)
		}
		if errors.Is(err, io.EOF) {
			return whole, nil
		} else if err != nil {
			return 0, err
		}
	}
	return whole, nil
}
