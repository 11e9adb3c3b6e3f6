package service

import (
	"context"
	"io"

	"github.com/nnsoc/nnsoc/hal/service/internal/wire"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/shm"
	"github.com/nnsoc/nnsoc/nn"
)

// GetStatus implements the service.
func (s *Server) GetStatus(context.Context, *pb.SessionRequest) (*pb.StatusReply, error) {
	return &pb.StatusReply{Status: int32(s.device.Status()), Now: uint64(s.device.Now())}, nil
}

// ShareMemory implements the service.
func (s *Server) ShareMemory(ctx context.Context, r *pb.ShareMemoryRequest) (*pb.Handle, error) {
	id, err := sessionOf(ctx).share(r.Fd, r.Bytes, r.ReadOnly)
	return &pb.Handle{Id: id}, err
}

// Release implements the service.
func (s *Server) Release(ctx context.Context, r *pb.HandleRequest) (*pb.Empty, error) {
	return &pb.Empty{}, sessionOf(ctx).release(r.Id)
}

// graphPerByte is how many bytes the graph of a model takes in a driver per byte of its
// description, with the forms that passes and stages keep: an operation described in 40 to
// 70 bytes takes about 1 KiB (D-2101).
const graphPerByte = 32

// modelCost is what the driver's copy of a model counts: memory, as long as the model or
// what is prepared from it lives.
func modelCost(r *pb.Model) cost {
	return cost{memoryBytes: graphPerByte*int64(min(r.GetModelBytes(), shm.MaxBytes)) + int64(min(r.GetConstantBytes(), shm.MaxBytes))}
}

// model reads a model that a client has put into a memory.
func (x *session) model(r *pb.Model) (*nn.Model, error) {
	m, err := find[*memory](x, r.GetMemory())
	if err != nil {
		return nil, err
	}
	head, constants := r.GetModelBytes(), r.GetConstantBytes()
	if head > uint64(m.bytes) || constants > uint64(m.bytes)-head {
		return nil, hal.Errorf(hal.InvalidArgument, "service: a model of %d and %d bytes in a memory of %d", head, constants, m.bytes)
	}
	data := make([]byte, head+constants)
	if err := m.copyOut(data, 0); err != nil {
		return nil, err
	}
	return wire.FromModel(data[:head], data[head:])
}

// GetSupportedOperations implements the service.
func (s *Server) GetSupportedOperations(ctx context.Context, r *pb.SupportRequest) (*pb.SupportReply, error) {
	x := sessionOf(ctx)
	c := modelCost(r.Model)
	if err := x.client.reserve(c); err != nil {
		return nil, err
	}
	defer x.client.free(c)
	m, err := x.model(r.Model)
	if err != nil {
		return nil, err
	}
	list, err := s.device.SupportedOperations(m)
	if err != nil {
		return nil, err
	}
	reply := &pb.SupportReply{}
	for _, a := range list {
		reason := a.Reason
		if !a.OK && reason == "" {
			reason = "no reason given"
		}
		reply.Refusals = append(reply.Refusals, reason)
	}
	return reply, nil
}

// PrepareModel implements the service.
func (s *Server) PrepareModel(ctx context.Context, r *pb.PrepareRequest) (*pb.Handle, error) {
	x := sessionOf(ctx)
	files, end := x.cache(r.Cache)
	defer end()
	o := hal.PrepareOptions{
		Preference: hal.Preference(r.Preference), Priority: hal.Priority(r.Priority), Deadline: (*hal.TimePoint)(r.Deadline), Cache: files,
	}
	return x.addModel(modelCost(r.Model), func() (hal.PreparedModel, error) {
		m, err := x.model(r.Model)
		if err != nil {
			return nil, err
		}
		return s.device.PrepareModel(m, o)
	})
}

// PrepareModelFromCache implements the service.
func (s *Server) PrepareModelFromCache(ctx context.Context, r *pb.PrepareFromCacheRequest) (*pb.Handle, error) {
	x := sessionOf(ctx)
	files, end := x.cache(r.Cache)
	defer end()
	return x.addModel(filesCost(&files), func() (hal.PreparedModel, error) {
		return s.device.PrepareModelFromCache((*hal.TimePoint)(r.Deadline), files)
	})
}

// addModel holds a prepared model that counts c besides.
func (x *session) addModel(c cost, prepare func() (hal.PreparedModel, error)) (*pb.Handle, error) {
	c[preparedModels]++
	id, p, err := create(x, c, func() (*model, error) {
		p, err := prepare()
		if err != nil {
			return nil, err
		}
		m := &model{PreparedModel: p, client: x.client}
		return m, m.charge()
	})
	h := &pb.Handle{Id: id}
	if err == nil {
		if t, ok := p.PreparedModel.(hal.Preparing); ok {
			h.PreparedFs = t.PreparedFs()
		}
	}
	return h, err
}

// Allocate implements the service.
func (s *Server) Allocate(ctx context.Context, r *pb.AllocateRequest) (*pb.Buffer, error) {
	x := sessionOf(ctx)
	models := make([]hal.PreparedModel, len(r.Prepared))
	for i, id := range r.Prepared {
		m, err := find[*model](x, id)
		if err != nil {
			return nil, err
		}
		models[i] = m.PreparedModel
	}
	id, b, err := create(x, cost{deviceBuffers: 1}, func() (*buffer, error) {
		b, err := s.device.Allocate(hal.BufferDesc{Dimensions: r.Dimensions}, models, wire.FromRoles(r.Inputs), wire.FromRoles(r.Outputs))
		if err != nil {
			return nil, err
		}
		if err := x.client.reserve(cost{memoryBytes: int64(b.Bytes())}); err != nil {
			b.Release()
			return nil, err
		}
		return &buffer{b, x.client}, nil
	})
	if err != nil {
		return nil, err
	}
	return &pb.Buffer{Id: id, Token: b.Token(), Bytes: uint64(b.Bytes())}, nil
}

// CopyTo implements the service.
func (s *Server) CopyTo(ctx context.Context, r *pb.CopyRequest) (*pb.Empty, error) {
	return &pb.Empty{}, sessionOf(ctx).copy(r, func(b *buffer, own *hal.Memory, m *memory) error {
		if err := b.CopyTo(own); err != nil {
			return err
		}
		return m.copyIn(own.Data, 0)
	})
}

// CopyFrom implements the service.
func (s *Server) CopyFrom(ctx context.Context, r *pb.CopyRequest) (*pb.Empty, error) {
	return &pb.Empty{}, sessionOf(ctx).copy(r, func(b *buffer, own *hal.Memory, m *memory) error {
		if err := m.copyOut(own.Data, 0); err != nil {
			return err
		}
		return b.CopyFrom(own, r.Dimensions)
	})
}

// copy moves a value by way of a private copy of the client's memory.
func (x *session) copy(r *pb.CopyRequest, move func(b *buffer, own *hal.Memory, m *memory) error) error {
	b, err := find[*buffer](x, r.Buffer)
	if err != nil {
		return err
	}
	m, err := find[*memory](x, r.Memory)
	if err != nil {
		return err
	}
	if r.Bytes > uint64(m.bytes) {
		return hal.Errorf(hal.InvalidArgument, "service: %d bytes of a memory of %d", r.Bytes, m.bytes)
	}
	c := cost{memoryBytes: int64(r.Bytes)}
	if err := x.client.reserve(c); err != nil {
		return err
	}
	defer x.client.free(c)
	return move(b, &hal.Memory{Name: hal.MemoryName(r.Name), Data: make([]byte, r.Bytes)}, m)
}

// Execute implements the service.
func (s *Server) Execute(ctx context.Context, r *pb.ExecuteRequest) (*pb.ExecuteReply, error) {
	m, p, err := sessionOf(ctx).private(r)
	if err != nil {
		return nil, err
	}
	defer p.free()
	o, trace := traced(r)
	res, err := p.execute(m, o)
	if err != nil && hal.StatusOf(err) != hal.OutputInsufficientSize {
		return nil, err
	}
	reply := wire.ToReply(res, err)
	return reply, trace.into(reply)
}

// CreateReusableExecution implements the service.
func (s *Server) CreateReusableExecution(ctx context.Context, r *pb.ExecuteRequest) (*pb.Empty, error) {
	m, p, err := sessionOf(ctx).private(r)
	if err != nil {
		return nil, err
	}
	defer p.free()
	_, err = m.CreateReusableExecution(&p.request, executeOptions(r))
	return &pb.Empty{}, err
}

// WriteListing implements the service.
func (s *Server) WriteListing(ctx context.Context, r *pb.HandleRequest) (*pb.Text, error) {
	return text(ctx, r, hal.PreparedModel.WriteListing)
}

// WriteProgram implements the service.
func (s *Server) WriteProgram(ctx context.Context, r *pb.HandleRequest) (*pb.Text, error) {
	return text(ctx, r, hal.PreparedModel.WriteProgram)
}

// WriteSteps implements the service.
func (s *Server) WriteSteps(ctx context.Context, r *pb.HandleRequest) (*pb.Text, error) {
	return text(ctx, r, func(p hal.PreparedModel, w io.Writer) error {
		if x, ok := hal.As[hal.StepPrinter](p); ok {
			return x.WriteSteps(w)
		}
		return hal.Errorf(hal.InvalidArgument, "service: this device prints no steps")
	})
}

// Explain implements the service.
func (s *Server) Explain(ctx context.Context, r *pb.HandleRequest) (*pb.Text, error) {
	return text(ctx, r, func(p hal.PreparedModel, w io.Writer) error {
		if x, ok := hal.As[hal.Explainer](p); ok {
			return x.Explain(w)
		}
		return hal.Errorf(hal.InvalidArgument, "service: this device explains no steps")
	})
}

// GetPasses implements the service.
func (s *Server) GetPasses(ctx context.Context, r *pb.SupportRequest) (*pb.PassesReply, error) {
	x, reply := sessionOf(ctx), &pb.PassesReply{}
	d, ok := hal.As[hal.PassPrinter](s.device)
	if !ok {
		return reply, nil
	}
	c := modelCost(r.Model)
	if err := x.client.reserve(c); err != nil {
		return nil, err
	}
	defer x.client.free(c)
	m, err := x.model(r.Model)
	if err != nil {
		return nil, err
	}
	list, err := d.Passes(m)
	if err != nil {
		return nil, err
	}
	bytes := 0
	for _, p := range list {
		if bytes += len(p.Pass) + len(p.Graph); bytes > maxMessage-1<<16 {
			return nil, hal.Errorf(hal.ResourceExhaustedPersistent, "service: the graphs are longer than %d bytes", maxMessage)
		}
		reply.Passes = append(reply.Passes, &pb.Pass{Name: p.Pass, Changed: p.Changed, Graph: p.Graph})
	}
	return reply, nil
}

// text answers with what a prepared model writes.
func text(ctx context.Context, r *pb.HandleRequest, write func(hal.PreparedModel, io.Writer) error) (*pb.Text, error) {
	m, err := find[*model](sessionOf(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	b := &bounded{most: maxMessage - 1<<10}
	if err := write(m.PreparedModel, b); err != nil {
		return nil, err
	}
	return &pb.Text{Text: b.data}, nil
}

// bounded collects bytes up to a limit.
type bounded struct {
	data []byte
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.most-len(b.data) {
		return 0, hal.Errorf(hal.ResourceExhaustedPersistent, "service: the text is longer than %d bytes", b.most)
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
