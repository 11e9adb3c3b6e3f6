package cost

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// Store keeps records by the content of what was measured: machine, device,
// options, model and inputs. It may be used from several goroutines, and its
// folder from several processes.
type Store struct {
	machine string
	dir     string

	mu    sync.Mutex
	known map[string]Record
}

// NewStore returns a store for the devices of a machine, which is any text that
// changes with whatever changes costs: the machine's description and the
// simulator's version. The folder is made when it is needed; "" keeps records
// in memory only.
func NewStore(dir, machine string) *Store {
	return &Store{machine: machine, dir: dir, known: map[string]Record{}}
}

// Other is a store in the same folder for another machine.
func (s *Store) Other(machine string) *Store { return NewStore(s.dir, s.machine+machine) }

// Measure returns what an execution of a model costs, from the store or by
// running it, which it announces. A model that the device cannot run is an
// error and a record that says so.
func (s *Store) Measure(d hal.Device, m *nn.Model, o hal.PrepareOptions, inputs [][]byte, announce func()) (Record, error) {
	key := s.key(d, m, o, inputs)
	if known, ok := s.get(key, len(m.Main.Operations)); ok {
		return known, nil
	}
	if announce != nil {
		announce()
	}
	r, err := execute(d, m, o, inputs)
	if err != nil {
		r = Record{Failed: true, Operations: make([]Row, len(m.Main.Operations))}
	}
	s.put(key, r)
	return r, err
}

// recordVersion changes with the format of files and keys.
const recordVersion = 1

// get returns the record of a key, which must have rows for n operations. A file
// that cannot be read or does not fit is none.
func (s *Store) get(key string, n int) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.known[key]; ok {
		return r, true
	}
	if s.dir == "" {
		return Record{}, false
	}
	var r Record
	f, err := os.Open(s.path(key))
	if err != nil {
		return r, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecordBytes))
	if err != nil || json.Unmarshal(data, &r) != nil || len(r.Operations) != n || r.TimeFs < 0 || !(r.EnergyPJ >= 0) {
		return Record{}, false
	}
	s.known[key] = r
	return r, true
}

const maxRecordBytes = 16 << 20

// put keeps a record. The file appears whole or not at all; where it cannot be
// written, memory alone keeps the record.
func (s *Store) put(key string, r Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[key] = r
	if s.dir == "" {
		return
	}
	path := s.path(key)
	data, err := json.Marshal(r)
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".record-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// path spreads files over 256 folders.
func (s *Store) path(key string) string {
	return filepath.Join(s.dir, key[:2], key[2:]+".json")
}

// key identifies a measurement.
func (s *Store) key(d hal.Device, m *nn.Model, o hal.PrepareOptions, inputs [][]byte) string {
	h := hasher{Hash: sha256.New()}
	h.int(recordVersion)
	h.text(s.machine)
	h.text(d.Name())
	h.text(d.Version())
	h.text(d.Description())
	h.int(int64(o.Preference))
	h.int(int64(o.Priority))
	h.model(m)
	for _, b := range inputs {
		h.bytes(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hasher hashes values so that different ones differ as bytes.
type hasher struct{ hash.Hash }

func (h *hasher) int(x int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(x))
	h.Write(b[:])
}

func (h *hasher) bytes(b []byte) {
	h.int(int64(len(b)))
	h.Write(b)
}

func (h *hasher) text(s string) { h.bytes([]byte(s)) }

func (h *hasher) list(l []uint32) {
	h.int(int64(len(l)))
	for _, x := range l {
		h.int(int64(x))
	}
}

func (h *hasher) model(m *nn.Model) {
	relaxed := int64(0)
	if m.Relaxed {
		relaxed = 1
	}
	h.int(relaxed)
	h.int(int64(1 + len(m.Referenced)))
	h.graph(&m.Main)
	for i := range m.Referenced {
		h.graph(&m.Referenced[i])
	}
}

func (h *hasher) graph(g *nn.Subgraph) {
	h.int(int64(len(g.Operands)))
	for i := range g.Operands {
		o := &g.Operands[i]
		h.int(int64(o.Type))
		h.list(o.Dimensions)
		h.int(int64(math.Float32bits(o.Scale)))
		h.int(int64(o.ZeroPoint))
		h.int(int64(o.Lifetime))
		if o.Channel != nil {
			h.int(int64(o.Channel.Dim))
			for _, s := range o.Channel.Scales {
				h.int(int64(math.Float32bits(s)))
			}
		}
		h.bytes(o.Data)
	}
	h.int(int64(len(g.Operations)))
	for i := range g.Operations {
		h.int(int64(g.Operations[i].Type))
		h.list(g.Operations[i].Inputs)
		h.list(g.Operations[i].Outputs)
	}
	h.list(g.Inputs)
	h.list(g.Outputs)
}
