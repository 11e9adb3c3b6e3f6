//go:build linux

package service

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/internal/unixpeer"
	"github.com/nnsoc/nnsoc/hal/service/shm"
	"github.com/nnsoc/nnsoc/internal/require"
)

// alone is a server without a device, and a session of this process.
func alone(t *testing.T, q Quotas) (*Server, *session) {
	t.Helper()
	s := &Server{quotas: q.withDefaults(), sessions: map[uint64]*session{}, clients: map[int]*client{}}
	s.all = usage{whose: "all clients have", limits: cost{memoryBytes: s.quotas.All}}
	return s, require.V(s.open(&unixpeer.Process{PID: os.Getpid()}))(t)
}

// share gives a session n bytes of memory.
func share(t *testing.T, x *session, n int) (*memory, []byte) {
	t.Helper()
	r := require.V(shm.Create(n))(t)
	t.Cleanup(func() { _ = r.Close() })
	id := require.V(x.share(int32(r.FD()), uint64(n), false))(t)
	return require.V(find[*memory](x, id))(t), r.Data
}

// TestReserved: what one account has no room for counts in none, and the most that fits is not too much.
func TestReserved(t *testing.T) {
	require.Same(t, 400, Quotas{Memory: 100}.withDefaults().All, "memory of all clients")
	all := &usage{limits: cost{memoryBytes: 15}}
	one, other := &usage{all: all, limits: cost{memoryBytes: 10}}, &usage{all: all, limits: cost{memoryBytes: 10}}
	require.NoError(t, one.reserve(cost{memoryBytes: 10}))
	require.Same(t, hal.ResourceExhaustedTransient, hal.StatusOf(one.reserve(cost{memoryBytes: 10})), "as much as there may be, once more")
	for n, want := range map[int64]hal.Status{11: hal.ResourceExhaustedPersistent, 10: hal.ResourceExhaustedTransient, 6: hal.ResourceExhaustedTransient} {
		require.Same(t, want, hal.StatusOf(other.reserve(cost{memoryBytes: n})), n, "bytes")
		require.Same(t, [2]int64{0, 10}, [2]int64{other.used[memoryBytes], all.used[memoryBytes]}, "in use after", n, "in vain")
	}
	require.NoError(t, other.reserve(cost{memoryBytes: 5}))
	one.free(cost{memoryBytes: 10})
	require.Same(t, [3]int64{0, 5, 5}, [3]int64{one.used[memoryBytes], other.used[memoryBytes], all.used[memoryBytes]}, "in use")
}

// TestSessionsOfAClient: a client is known while one of its sessions lives.
func TestSessionsOfAClient(t *testing.T) {
	s, x := alone(t, Quotas{})
	y := require.V(s.open(x.from))(t)
	require.Check(t, x.client == y.client && x.id != y.id, "two sessions of one process")
	for k, end := range []*session{x, y} {
		s.close(end)
		require.Same(t, 1-k, len(s.clients), "clients after", k+1, "sessions ended")
	}
}

// closing counts how often it is closed.
type closing struct{ times *int }

func (closing) kind() string { return "thing" }
func (c closing) close()     { *c.times++ }

// TestEndedBeforeItIsHeld: an object that is made when its session has ended is closed, and counts nothing.
func TestEndedBeforeItIsHeld(t *testing.T) {
	_, x := alone(t, Quotas{})
	times := 0
	_, _, err := create(x, cost{memoryBytes: 7}, func() (closing, error) {
		x.end()
		return closing{&times}, nil
	})
	require.Check(t, err == errEnded && times == 1 && x.client.used[memoryBytes] == 0, "%v: closed %d times, %d bytes", err, times, x.client.used[memoryBytes])
}

// TestMemoryEnds: a memory that is unmapped shows no bytes and copies none; a model that does not fit its memory is
// refused before it is copied.
func TestMemoryEnds(t *testing.T) {
	_, x := alone(t, Quotas{})
	m, data := share(t, x, 10)
	copy(data, "0123456789")
	own := make([]byte, 4)
	require.NoError(t, m.copyOut(own, 6))
	require.Same(t, "6789", string(own))
	require.ErrorContains(t, m.copyOut(own, 7), "4 bytes at 7 of a memory of 10")
	require.ErrorContains(t, m.copyIn(own, 7), "4 bytes to 7 of a memory of 10")
	_, err := x.model(&pb.Model{Memory: x.next, ModelBytes: 6, ConstantBytes: 6})
	require.ErrorContains(t, err, "a model of 6 and 6 bytes in a memory of 10")
	m.close()
	require.Check(t, m.view.Data == nil && m.copyOut(own, 0) != nil && m.copyIn(own, 0) != nil, "an unmapped memory shows %v", m.view.Data)
}

// TestForeignPool: an argument in a pool that there is none names none of those that the copies of others have.
func TestForeignPool(t *testing.T) {
	_, x := alone(t, Quotas{})
	m, _ := share(t, x, 8)
	at := func(pool uint32) hal.RequestArgument {
		return hal.RequestArgument{Location: hal.DataLocation{PoolIndex: pool, Length: 4}}
	}
	p := require.V(newPrivate(x.client, []hal.RequestArgument{at(0), at(1)}, nil, []clientPool{{memory: m}}))(t)
	require.Same(t, 2, len(p.request.Pools), "pools: the client's, and that of the copy")
	for i, want := range []uint32{1, 1<<32 - 1} {
		require.Same(t, want, p.request.Inputs[i].Location.PoolIndex, "pool of input", i)
	}
	require.Same(t, 8+4, x.client.used[memoryBytes], "bytes in use")
	p.free()
	require.Same(t, 8, x.client.used[memoryBytes], "bytes in use after it")
}

// TestCopyIsGivenBack: the private copy of a move to or from device memory counts while it moves.
func TestCopyIsGivenBack(t *testing.T) {
	_, x := alone(t, Quotas{})
	share(t, x, 8)
	region := x.next
	id, _, err := create(x, cost{}, func() (*buffer, error) { return &buffer{}, nil })
	require.NoError(t, err)
	moved := x.copy(&pb.CopyRequest{Buffer: id, Memory: region, Bytes: 8}, func(_ *buffer, own *hal.Memory, _ *memory) error {
		require.Same(t, 16, x.client.used[memoryBytes], "bytes while", len(own.Data), "move")
		return nil
	})
	require.NoError(t, moved)
	require.Same(t, 8, x.client.used[memoryBytes], "bytes in use after it")
}

// TestLoadedWithTheLastFence: inputs are copied when the last fence has signalled, not before.
func TestLoadedWithTheLastFence(t *testing.T) {
	_, x := alone(t, Quotas{})
	m, data := share(t, x, 4)
	a := hal.RequestArgument{Location: hal.DataLocation{Length: 4}}
	p := require.V(newPrivate(x.client, []hal.RequestArgument{a}, nil, []clientPool{{memory: m}}))(t)
	w := newFenceRelay(p, 2)
	for fence, want := range []string{"\x00\x00\x00\x00", "late"} {
		copy(data, "late")
		w.signal(&pb.FenceSignal{Fence: uint32(fence)})
		require.Same(t, want, string(p.inputs[0].data), "input after fence", fence)
		require.Same(t, hal.FenceSignaled, w.fences[fence].State(), "fence", fence)
	}
}

// TestLongTexts: a text fills a message but for what describes it, and no more.
func TestLongTexts(t *testing.T) {
	_, x := alone(t, Quotas{})
	id, _, err := create(x, cost{}, func() (*model, error) { return &model{}, nil })
	require.NoError(t, err)
	for n, good := range map[int]bool{maxMessage - 1<<10: true, maxMessage - 1<<10 + 1: false} {
		_, err := text(context.WithValue(context.Background(), sessionKey{}, x), &pb.HandleRequest{Id: id}, func(_ hal.PreparedModel, w io.Writer) error {
			_, err := w.Write(make([]byte, n))
			return err
		})
		require.Check(t, (err == nil) == good, "%d bytes: %v", n, err)
	}
}

// TestBurstSlots: a burst has a most of slots; one that is taken can be given anew.
func TestBurstSlots(t *testing.T) {
	b := &burstEnd{server: &burst.Server{}, slots: map[int32]*memory{}}
	m, other := &memory{view: hal.NewMemory(1)}, &memory{view: hal.NewMemory(1)}
	for slot := range int32(maxBurstSlots) {
		require.NoError(t, b.set(slot, m))
	}
	require.Same(t, hal.ResourceExhaustedTransient, hal.StatusOf(b.set(maxBurstSlots, m)), "one more")
	require.NoError(t, b.set(7, other))
	require.NoError(t, b.set(8, nil))
	require.NoError(t, b.set(maxBurstSlots, m))
	list := require.V(b.GetMemories([]int32{7, maxBurstSlots}))(t)
	require.Check(t, list[0] == other.view && list[1] == m.view, "memories %v", list)
	require.Fails(t, require.Err(b.GetMemories([]int32{7, 8})))
}

// TestMessageIsFreedOnce: what a message reserved is given back once.
func TestMessageIsFreedOnce(t *testing.T) {
	all := &usage{}
	w := newWireCodec(all)
	message := &pb.HandleRequest{}
	all.used[memoryBytes] = 100
	w.reserved.Store(message, cost{memoryBytes: 80})
	w.free(message)
	w.free(message)
	require.Same(t, 20, all.used[memoryBytes], "bytes in use")
}

// kept is a cache file that counts its changes.
type kept struct {
	hal.CacheFile
	changes int
}

func (k *kept) Truncate(int64) error                   { k.changes++; return nil }
func (k *kept) WriteAt(b []byte, _ int64) (int, error) { k.changes++; return len(b), nil }

// TestUnwrittenMirror: a file that the driver has not written leaves the client's as it is; one that it has replaces it.
func TestUnwrittenMirror(t *testing.T) {
	for text, want := range map[string]int{"": 0, "program": 2} {
		f := require.V(shm.NewFile())(t)
		require.V(f.WriteString(text))(t)
		k := &kept{}
		(&passedCache{mirrors: []mirror{{k, f}}}).saved()
		require.Same(t, want, k.changes, "changes after", len(text), "bytes")
		require.NoError(t, f.Close())
	}
}

// TestClientPools: a pool is the memory that it names, whatever token stands beside it, or device memory of the client.
func TestClientPools(t *testing.T) {
	_, x := alone(t, Quotas{})
	m, _ := share(t, x, 8)
	pools := require.V(x.clientPools([]*pb.Pool{{Memory: x.next, Token: 7, Name: string(hal.Ashmem), ReadOnly: true}, {Memory: x.next}}))(t)
	require.Equal(t, []clientPool{{memory: m, name: hal.Ashmem, readOnly: true}, {memory: m}}, pools)
	for want, p := range map[string]*pb.Pool{"no device memory of this client has token 7": {Token: 7}, "pool 0": {}, "no memory": {Memory: x.next + 1}} {
		require.ErrorContains(t, require.Err(x.clientPools([]*pb.Pool{p})), want)
	}
}

// dripping reads three bytes at a time.
type dripping struct{ io.ReaderAt }

func (d dripping) ReadAt(b []byte, at int64) (int, error) {
	return d.ReaderAt.ReadAt(b[:min(3, len(b))], at)
}

// TestCopyOfShortReads: a file that gives fewer bytes than it is asked for is copied whole.
func TestCopyOfShortReads(t *testing.T) {
	f := require.V(shm.NewFile())(t)
	defer f.Close()
	require.NoError(t, copyFile(f, dripping{strings.NewReader("0123456789")}))
	require.Same(t, "0123456789", string(require.V(io.ReadAll(io.NewSectionReader(f, 0, 20)))(t)))
}
