package service

import (
	"sync"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that wireCodec wraps
	"google.golang.org/grpc/mem"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/internal/wire"
)

// decodedPerByte is how many bytes a message of one byte may take when it is decoded: an
// argument of a request without fields is 2 bytes in a message; decoded it is 80 with a
// pointer of 8, and twice 40 in the forms of package hal (D-2100).
const decodedPerByte = 80

// wireCodec decodes the messages of clients after it has reserved what they may take in
// memory, in the account of all clients. Who has received a message frees it.
type wireCodec struct {
	encoding.CodecV2
	all      *usage
	reserved sync.Map // cost by message that is in use
}

func newWireCodec(all *usage) *wireCodec {
	return &wireCodec{CodecV2: encoding.GetCodecV2("proto"), all: all}
}

// Unmarshal implements encoding.CodecV2.
func (w *wireCodec) Unmarshal(data mem.BufferSlice, message any) error {
	c := cost{memoryBytes: int64(data.Len()) * decodedPerByte}
	if err := w.all.add(c); err != nil {
		return wire.ToStatus(hal.Errorf(hal.StatusOf(err), "service: a message of %d bytes: %w", data.Len(), err))
	}
	if err := w.CodecV2.Unmarshal(data, message); err != nil {
		w.all.subtract(c)
		return err
	}
	if _, attach := message.(*pb.AttachRequest); attach { // it is empty, and its call lasts as long as the session
		w.all.subtract(c)
		return nil
	}
	w.reserved.Store(message, c)
	return nil
}

// free returns what a message reserved.
func (w *wireCodec) free(message any) {
	if c, ok := w.reserved.LoadAndDelete(message); ok {
		w.all.subtract(c.(cost))
	}
}
