package cost

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Store keeps records by the content of what was measured: machine, device,
// options, model and inputs. It may be used from several goroutines, and its
// folder from several processes.
type Store struct {
	machine string
	dir     string

	mu    sync.Mutex
	known map[string][]byte // records as JSON
}

// NewStore returns a store for the devices of a machine, which is any text that
// changes with whatever changes costs: the machine's description and the
// simulator's version. The folder is made when it is needed; "" keeps records
// in memory only.
func NewStore(dir, machine string) *Store {
	return &Store{machine: machine, dir: dir, known: map[string][]byte{}}
}

// Other is a store in the same folder for another machine.
func (s *Store) Other(machine string) *Store { return NewStore(s.dir, s.machine+machine) }

// Measure returns the costs of an execution of a model, from the store or by
// running it, which it announces. A model that the device cannot run is an
// error, which the store records.
func (s *Store) Measure(d hal.Device, m *nn.Model, o hal.PrepareOptions, inputs [][]byte, announce func()) (Record, error) {
	key := s.key(d, m, o, inputs)
	var known Record
	if s.get(key, &known) && known.fits(len(m.Main.Operations)) {
		return known, nil
	}
	if announce != nil {
		announce()
	}
	r, err := execute(d, m, o, inputs)
	if err != nil {
		r = Record{Failed: true, Operations: make([]Row, len(m.Main.Operations))}
	}
	s.put(key, &r)
	return r, err
}

// recordVersion changes with the format of files and keys.
const recordVersion = 5

// get reads the record of a key and reports whether there is one. A file that is damaged
// or that of another key is none; whether its content makes sense the caller must check.
func (s *Store) get(key string, record any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.known[key]
	if !ok && s.dir != "" {
		data = read(s.path(key), key)
	}
	return len(data) > 0 && json.Unmarshal(data, record) == nil
}

// file is a record on disk, with the hash of key and record.
type file struct {
	Sum    string          `json:"sum"`
	Record json.RawMessage `json:"record"`
}

func sum(key string, record []byte) string {
	h := sha256.Sum256(append([]byte(key), record...))
	return hex.EncodeToString(h[:])
}

// read is the record in a file, nil where there is none that is whole.
func read(path, key string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecordBytes))
	var x file
	if err != nil || json.Unmarshal(data, &x) != nil || x.Sum != sum(key, x.Record) {
		return nil
	}
	return x.Record
}

const maxRecordBytes = 16 << 20

// put keeps a record. The file appears whole or not at all; where it cannot be
// written, memory alone keeps the record.
func (s *Store) put(key string, record any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := json.Marshal(record)
	if err != nil {
		return
	}
	if s.known[key] = data; s.dir == "" {
		return
	}
	if data, err = json.Marshal(file{sum(key, data), data}); err != nil {
		return
	}
	path := s.path(key)
	if os.MkdirAll(filepath.Dir(path), 0o777) != nil {
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

// key identifies the measurement of a model on a device.
func (s *Store) key(d hal.Device, m *nn.Model, o hal.PrepareOptions, inputs [][]byte) string {
	h := s.hasher(o)
	h.text("model")
	h.device(d)
	h.model(m)
	for _, b := range inputs {
		h.bytes(b)
	}
	return h.sum()
}

// planKey identifies the measurement of a plan, with clocks held. Steps follow from devices
// and graph.
func (s *Store) planKey(p *partition.Problem, plan partition.Plan, held Clock, o hal.PrepareOptions, inputs [][]byte) string {
	h := s.hasher(o)
	h.text("plan")
	h.text(held.Device)
	h.int(held.Hz)
	h.int(held.MemoryHz)
	h.int(int64(len(p.Devices)))
	for i := range p.Devices {
		h.device(p.Devices[i].Driver)
	}
	h.plan(plan)
	h.model(p.Model)
	for _, b := range inputs {
		h.bytes(b)
	}
	return h.sum()
}

func (h *hasher) plan(p partition.Plan) {
	for _, d := range p.Device {
		h.int(int64(d))
	}
	h.flag(p.Sequential)
	if p.Part != nil {
		h.text("parts")
	}
	for _, n := range p.Part {
		h.int(int64(n))
	}
	h.int(int64(len(p.Subgraphs)))
	for _, k := range slices.Sorted(maps.Keys(p.Subgraphs)) {
		h.int(int64(k))
		h.plan(p.Subgraphs[k])
	}
}

func (s *Store) hasher(o hal.PrepareOptions) hasher {
	h := hasher{Hash: sha256.New()}
	h.int(recordVersion)
	h.text(s.machine)
	h.int(int64(o.Preference))
	h.int(int64(o.Priority))
	return h
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

func (h *hasher) flag(b bool) {
	if b {
		h.int(1)
	} else {
		h.int(0)
	}
}

func (h *hasher) device(d hal.Device) {
	h.text(d.Name())
	h.text(d.Version())
	h.text(d.Description())
}

func (h *hasher) sum() string { return hex.EncodeToString(h.Sum(nil)) }

func (h *hasher) model(m *nn.Model) {
	h.flag(m.Relaxed)
	for _, e := range m.Extensions {
		h.text(e.Name)
		h.int(int64(e.Prefix))
	}
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
		if len(o.Extension) > 0 {
			h.bytes(o.Extension)
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
