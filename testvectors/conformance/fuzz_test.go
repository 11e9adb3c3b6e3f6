package conformance_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/fuzzing"
)

// file is a cache file in memory.
type file struct{ data []byte }

func (f *file) ReadAt(b []byte, at int64) (int, error) {
	n := 0
	if at < int64(len(f.data)) {
		n = copy(b, f.data[at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	if end := int(at) + len(b); end > len(f.data) {
		f.data = append(f.data, make([]byte, end-len(f.data))...)
	}
	return copy(f.data[at:], b), nil
}

func (f *file) Truncate(n int64) error {
	f.data = f.data[:min(int(n), len(f.data))]
	return nil
}

// small is a network that every device with a cache prepares, and its type.
func small(tb testing.TB, d hal.Device) *nn.Model {
	for _, format := range []builder.Format{builder.Quant8, builder.Float32} {
		b := builder.New(builder.Config{Format: format})
		x := b.Values("x", 1, 8)
		b.Output(b.Add(x, x, builder.ReLU), "y")
		m := require.V(b.Model("small"))(tb)
		if s, err := d.SupportedOperations(m); err == nil && !slices.ContainsFunc(s, func(a hal.Support) bool { return !a.OK }) {
			return m
		}
	}
	tb.Fatalf("%s declines an ADD", d.Name())
	return nil
}

// FuzzCacheContent: content with a right digest that no driver has written is an error,
// or a prepared model that can be listed or cannot; it never crashes.
func FuzzCacheContent(f *testing.F) {
	var list []hal.Device
	for _, d := range open(f) {
		if n, _ := d.NumberOfCacheFilesNeeded(); n > 0 {
			list = append(list, d)
		}
	}
	for i := range list {
		f.Add(i, uint16(0), byte(0), uint16(0), byte(0))
		f.Add(i, uint16(40), byte(0xff), uint16(90), byte(1))
	}
	f.Fuzz(func(t *testing.T, i int, at uint16, x byte, at2 uint16, x2 byte) {
		d := list[uint(i)%uint(len(list))]
		m := small(t, d)
		model, data := &file{}, &file{}
		c := hal.Cache{Model: []hal.CacheHandle{{model}}, Data: []hal.CacheHandle{{data}}}
		require.V(d.PrepareModel(m, hal.PrepareOptions{Cache: c}))(t)
		const head, sum = 110, sha256.Size // the bytes around the content of the model file
		signed := model.data[:len(model.data)-sum]
		signed[head+int(at)%(len(signed)-head)] ^= x
		signed[head+int(at2)%(len(signed)-head)] ^= x2
		digest := sha256.Sum256(signed)
		copy(model.data[len(signed):], digest[:])
		copy(data.data, digest[:])
		p, err := d.PrepareModelFromCache(nil, c)
		if err != nil {
			return
		}
		_ = p.WriteProgram(io.Discard)
		_ = p.WriteListing(io.Discard)
	})
}

// FuzzCacheFiles: any bytes in the files of a cache are an error; nothing that a driver
// has not written is a prepared model.
func FuzzCacheFiles(f *testing.F) {
	list := open(f)
	f.Add([]byte{}, []byte{}, uint8(2))
	f.Add([]byte("nnsoc compilation cache 1\n"), make([]byte, 200), uint8(3))
	for i, d := range list {
		model, data := &file{}, &file{}
		c := hal.Cache{Model: []hal.CacheHandle{{model}}, Data: []hal.CacheHandle{{data}}}
		if _, err := d.PrepareModel(small(f, d), hal.PrepareOptions{Cache: c}); err == nil && len(model.data) > 0 {
			f.Add(model.data[:len(model.data)-1], data.data, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, model, data []byte, i uint8) {
		d := list[int(i)%len(list)]
		_, err := d.PrepareModelFromCache(nil, hal.Cache{
			Model: []hal.CacheHandle{{&file{model}}}, Data: []hal.CacheHandle{{&file{data}}}, Token: hal.CacheToken{1},
		})
		require.Check(t, err != nil, "%s takes %d and %d bytes for a cache", d.Name(), len(model), len(data))
		fuzzing.Sane(t, d.Name(), err)
	})
}

// FuzzModel: a serialized model with any damage is refused or prepared by every device, and a prepared one can be
// requested to execute.
func FuzzModel(f *testing.F) {
	list := open(f)
	for _, m := range check.Models() {
		w := &cache.Writer{}
		w.Model(m, true)
		model, data := w.Parts()
		f.Add(model, data)
	}
	f.Fuzz(func(t *testing.T, model, data []byte) {
		r := cache.NewReader(model, data)
		m := r.Model()
		if r.End() != nil {
			return
		}
		for _, d := range list {
			_, err := d.SupportedOperations(m)
			fuzzing.Sane(t, d.Name()+": getSupportedOperations", err)
			p, err := d.PrepareModel(m, hal.PrepareOptions{})
			fuzzing.Sane(t, d.Name()+": prepareModel", err)
			if err == nil {
				fuzzing.Execute(t, d, p, m)
			}
		}
	})
}

// FuzzExtension: whatever extension data, names, prefixes and numbers of types and operations a model has, every device
// refuses it, in process and as a service, or computes as the data defines.
func FuzzExtension(f *testing.F) {
	var list []hal.Device
	for _, d := range open(f) {
		there, stop := require.V2(service.Loopback(d))(f)
		f.Cleanup(stop)
		list = append(list, d, there)
	}
	book := make([]byte, 0, 8)
	for _, v := range []float32{-0.5, 3} {
		book = binary.LittleEndian.AppendUint32(book, math.Float32bits(v))
	}
	f.Add(book, nn.CodeExtensions()[0].Name, uint16(2), uint16(2), uint16(0), uint16(0), []byte{0, 1, 2})
	f.Add(book, nn.CodeExtensions()[0].Name, uint16(1), uint16(1), uint16(0), uint16(0), []byte{1})
	f.Add(book[:5], "org.example.x", uint16(3), uint16(2), uint16(1), uint16(9), []byte{0})
	f.Fuzz(func(t *testing.T, data []byte, name string, listed, prefix, typ, op uint16, codes []byte) {
		if len(codes) == 0 || len(codes) > 256 {
			return
		}
		dims := []uint32{uint32(len(codes))}
		m := &nn.Model{Extensions: []nn.ExtensionPrefix{{Name: name, Prefix: listed}}, Main: nn.Subgraph{
			Operands: []nn.Operand{
				{Type: nn.OperandType(nn.ExtensionCode(prefix, typ)), Dimensions: dims, Lifetime: nn.SubgraphInput, Extension: data},
				{Type: nn.TensorQuant8Asymm, Dimensions: dims, Lifetime: nn.SubgraphOutput, Scale: 0.25, ZeroPoint: 100},
			},
			Operations: []nn.Operation{{Type: nn.OperationType(nn.ExtensionCode(prefix, op)), Inputs: []uint32{0}, Outputs: []uint32{1}}},
			Inputs:     []uint32{0}, Outputs: []uint32{1},
		}}
		for i, d := range list {
			s, err := d.SupportedOperations(m)
			fuzzing.Sane(t, d.Name()+": getSupportedOperations", err)
			p, refused := d.PrepareModel(m, hal.PrepareOptions{})
			fuzzing.Sane(t, d.Name()+": prepareModel", refused)
			if takes := err == nil && s[0].OK; takes != (refused == nil) {
				t.Errorf("device %d, %s: support %v, %v; prepareModel: %v", i, d.Name(), s, err, refused)
			}
			if refused != nil {
				continue
			}
			b := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: true}, Inputs: [][]byte{codes}, Outputs: [][]byte{make([]byte, len(codes))}}
			require.V(hal.Execute(p, b))(t, d.Name())
			for k, q := range codes {
				v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*min(int(q), len(data)/4-1):]))
				want := min(max(math.Round(float64(v/0.25))+100, 0), 255)
				if got := b.Outputs[0][k]; float64(got) != want {
					t.Fatalf("%s: code %d of %v is %d, want %v", d.Name(), q, v, got, want)
				}
			}
		}
	})
}

// numbers draws small numbers from bytes, now and then a large one.
type numbers []byte

func (n *numbers) next() uint32 {
	if len(*n) == 0 {
		return 0
	}
	b := (*n)[0]
	*n = (*n)[1:]
	switch {
	case b < 200:
		return uint32(b % 32)
	case b < 250:
		return uint32(b)<<24 | uint32(b)
	}
	return ^uint32(0) - uint32(255-b)
}

func (n *numbers) argument() hal.RequestArgument {
	a := hal.RequestArgument{HasNoValue: n.next()%8 == 7, Location: hal.DataLocation{PoolIndex: n.next(), Offset: n.next(), Length: n.next()}}
	for range n.next() % 6 {
		a.Dimensions = append(a.Dimensions, n.next())
	}
	return a
}

// FuzzRequest: every device executes any request or refuses it, by each way of executing, and pools to read keep their
// content.
func FuzzRequest(f *testing.F) {
	type prepared struct {
		hal.Device
		model *nn.Model
		hal.PreparedModel
	}
	var list []prepared
	for _, d := range open(f) {
		m := small(f, d)
		p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(f)
		list = append(list, prepared{d, m, p})
	}
	f.Add([]byte{1, 1, 1, 0, 0, 0, 8, 0, 0, 1, 0, 8, 0})
	f.Add([]byte{1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 8, 0, 1, 0, 8, 2, 1, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range list {
			n := numbers(data)
			r := &hal.Request{}
			for range n.next() % 4 {
				r.Inputs = append(r.Inputs, n.argument())
			}
			for range n.next() % 4 {
				r.Outputs = append(r.Outputs, n.argument())
			}
			for range n.next() % 5 {
				pool := hal.RequestPool{Token: n.next()}
				if k := n.next(); k%4 > 0 {
					pool.Memory = &hal.Memory{Name: hal.Ashmem, Data: make([]byte, n.next()%64), ReadOnly: k%4 == 1}
				}
				r.Pools = append(r.Pools, pool)
			}
			o := hal.ExecuteOptions{Functional: true}
			_, err := p.Execute(r, o)
			fuzzing.Sane(t, p.Name()+": execute", err)
			for i := range r.Pools {
				if m := r.Pools[i].Memory; m != nil && m.ReadOnly && !bytes.Equal(m.Data, make([]byte, len(m.Data))) {
					t.Errorf("%s: pool %d was written", p.Name(), i)
				}
			}
			if e, err := p.CreateReusableExecution(r, o); err == nil {
				_, err = e.Compute()
				fuzzing.Sane(t, p.Name()+": compute", err)
			} else {
				fuzzing.Sane(t, p.Name()+": createReusableExecution", err)
			}
			if x, err := p.ExecuteFenced(r, nil, o, 0); err == nil {
				<-x.Fence.Done()
				_, err = x.ExecutionInfo()
				fuzzing.Sane(t, p.Name()+": fenced", err)
			}
		}
	})
}

// FuzzBurst: any stream of datums is answered packet by packet, and a good request is
// still executed afterwards.
func FuzzBurst(f *testing.F) {
	d := open(f)[0]
	m := small(f, d)
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(f)
	n := m.Main.Operands[m.Main.Inputs[0]].Bytes()
	b := &hal.Buffers{Inputs: [][]byte{make([]byte, n)}, Outputs: [][]byte{make([]byte, n)}}
	r := b.Request()
	slots := burst.NewSlots(func(int32) {})
	good := &burst.RequestMessage{Inputs: r.Inputs, Outputs: r.Outputs}
	for i := range r.Pools {
		slot, _ := require.V2(slots.Acquire(r.Pools[i].Memory))(f)
		good.Slots = append(good.Slots, slot)
	}
	var seed []byte
	for _, x := range good.Packet() {
		seed = append(seed, x[:]...)
	}
	f.Add(seed, uint8(0))
	f.Add(append(seed[:64:64], seed...), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		requests, results := burst.NewQueue(64), burst.NewQueue(64)
		s := require.V(p.(base.BurstServer).ServeBurst(slots, requests, results))(t)
		defer s.Close()
		exchange := func(packet []burst.Datum) *burst.ResultMessage {
			require.NoError(t, requests.Write(packet))
			answer := require.V(results.Read(0))(t)
			r := require.V(burst.ParseResult(answer))(t)
			return r
		}
		for len(data) >= burst.DatumBytes {
			var packet []burst.Datum
			for len(packet) < 1+int(size%60) && len(data) >= burst.DatumBytes {
				packet = append(packet, burst.Datum(data[:burst.DatumBytes]))
				data = data[burst.DatumBytes:]
			}
			exchange(packet)
			if s := exchange(good.Packet()).Status; s != hal.StatusNone {
				t.Fatalf("a good request afterwards: %v", s)
			}
		}
	})
}
