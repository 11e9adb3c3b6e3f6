package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Description identifies a sweep: a folder holds the results of one.
type Description struct {
	SchemaVersion int      `json:"schema_version"`
	SoC           string   `json:"soc"`
	Keys          []string `json:"keys"`
	Count         int      `json:"points"`
	// PointsHash is of all points with the machines they run on, RunHash of how they are run.
	PointsHash string `json:"points_hash"`
	RunHash    string `json:"run_hash"`
	Build      string `json:"build"`
}

// differs names the first thing that another description has otherwise.
func (d *Description) differs(o *Description) string {
	switch {
	case d.SchemaVersion != o.SchemaVersion:
		return "format"
	case d.SoC != o.SoC:
		return "SoC"
	case !slices.Equal(d.Keys, o.Keys) || d.Count != o.Count || d.PointsHash != o.PointsHash:
		return "points"
	case d.RunHash != o.RunHash:
		return "way of running"
	case d.Build != o.Build:
		return "build of nnsoc"
	}
	return ""
}

// Names of files in the folder of a sweep.
const (
	descriptionFile = "sweep.json"
	lockFile        = ".lock"
	CSVFile         = "results.csv"
	ParquetFile     = "results.parquet"
)

// maxLine bounds a line of results.
const maxLine = 1 << 22

// ErrBusy is the error of a shard that another process works on.
var ErrBusy = errors.New("another process works on this shard")

// Store is the folder of a sweep, open for the rows of a shard. Its methods may be called
// from several goroutines.
type Store struct {
	dir   string
	mu    sync.Mutex
	lines *os.File
	done  map[int]bool
}

// Open makes the folder, or finds the results that are there already. A line that a killed
// process has not finished is removed.
func Open(dir string, d *Description, shard Shard) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &Store{dir: dir, done: map[int]bool{}}
	if err := s.locked(func() error { return s.describe(d) }); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, shard.file()), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(f, false); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), ErrBusy)
	}
	s.lines = f
	rows, whole, err := readLines(f.Name(), f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err == nil {
		rows, err = s.Rows()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	for i := range rows {
		s.done[rows[i].Index] = true
	}
	return s, nil
}

// Close ends the work on the shard.
func (s *Store) Close() error {
	err := s.lines.Sync()
	if e := s.lines.Close(); err == nil {
		err = e
	}
	return err
}

// Done reports whether a point was in the folder when it was opened.
func (s *Store) Done(index int) bool { return s.done[index] }

// Add appends a row in one write, so that it is there whole or not at all.
func (s *Store) Add(r *Row) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.lines.Write(append(line, '\n'))
	return err
}

// Rows are the results of all shards so far, by index, each once.
func (s *Store) Rows() ([]Row, error) {
	files, err := filepath.Glob(filepath.Join(escape(s.dir), "rows-*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []Row
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		rows, _, err := readLines(name, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b Row) int { return a.Index - b.Index })
	return slices.CompactFunc(all, func(a, b Row) bool { return a.Index == b.Index }), nil
}

// escape makes a path a pattern that matches itself.
func escape(path string) string {
	var b []byte
	for i := range len(path) {
		if bytes.IndexByte([]byte(`*?[\`), path[i]) >= 0 {
			b = append(b, '\\')
		}
		b = append(b, path[i])
	}
	return string(b)
}

// locked runs a function that only one process may run at a time.
func (s *Store) locked(do func() error) error {
	f, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close() // unlocks it
	if err := flock(f, true); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return do()
}

// describe writes the description of the folder, or checks it.
func (s *Store) describe(d *Description) error {
	path := filepath.Join(s.dir, descriptionFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return err
		}
		return replace(path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
	} else if err != nil {
		return err
	}
	var there Description
	if err := json.Unmarshal(text, &there); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if what := d.differs(&there); what != "" {
		return fmt.Errorf("%s holds a sweep with another %s: give another folder, or remove it", s.dir, what)
	}
	return nil
}

// replace writes a file in one step.
func replace(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".nnsoc-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // when it was not renamed
	w := bufio.NewWriter(f)
	err = write(w)
	if e := w.Flush(); err == nil {
		err = e
	}
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// readLines reads rows, one per line, and returns the number of bytes of whole lines.
func readLines(name string, r io.Reader) (rows []Row, whole int64, err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(b)
		if errors.Is(err, io.EOF) {
			return rows, whole, nil // the rest of a line was not finished
		} else if err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		var row Row
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if row.Index < 0 || row.Index >= maxPoints {
			return nil, 0, fmt.Errorf("%s:%d: point %d", name, n, row.Index)
		}
		rows, whole = append(rows, row), whole+int64(len(line))
	}
}

// readLine reads up to and with the end of a line.
func readLine(b *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Collect writes the tables of all rows that are there, and returns those.
func (s *Store) Collect(keys []string) (rows []Row, err error) {
	err = s.locked(func() error {
		if rows, err = s.Rows(); err != nil {
			return err
		}
		if err := replace(filepath.Join(s.dir, CSVFile), func(w io.Writer) error { return writeCSV(w, keys, rows) }); err != nil {
			return err
		}
		return replace(filepath.Join(s.dir, ParquetFile), func(w io.Writer) error { return writeParquet(w, keys, rows) })
	})
	return rows, err
}
