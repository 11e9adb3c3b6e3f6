package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/nn"
)

// ToStatus is an error as it travels: with its HAL status as a detail.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	s := status.New(codes.Unknown, err.Error())
	if d, e := s.WithDetails(&pb.StatusReply{Status: int32(hal.StatusOf(err))}); e == nil {
		s = d
	}
	return s.Err()
}

// DriverError is an error that a driver in another process returned.
type DriverError struct{ error }

// Unwrap returns the cause.
func (e DriverError) Unwrap() error { return e.error }

// Text is what a driver says, in a line of at most maxText characters that a terminal can show.
func Text(s string) string {
	list := []rune(strings.ToValidUTF8(s[:min(len(s), utf8.UTFMax*maxText)], ""))
	for i, r := range list {
		if !unicode.IsPrint(r) {
			list[i] = ' '
		}
	}
	return strings.TrimSpace(string(list[:min(len(list), maxText)]))
}

const maxText = 1000

// ofCode are the statuses of calls without a detail; those of others are GENERAL_FAILURE.
var ofCode = map[codes.Code]hal.Status{
	codes.InvalidArgument: hal.InvalidArgument, codes.FailedPrecondition: hal.MissedDeadlinePersistent, codes.OutOfRange: hal.MissedDeadlineTransient,
	codes.ResourceExhausted: hal.ResourceExhaustedPersistent,
}

// FromStatus converts the error of a call. An error without a HAL status means that the
// driver is gone, or that the call broke a rule of gRPC.
func FromStatus(name string, err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return hal.Errorf(hal.DeviceUnavailable, "%s: %w", name, err)
	}
	for _, d := range s.Details() {
		if r, ok := d.(*pb.StatusReply); ok && r.Status > 0 && r.Status <= int32(hal.ResourceExhaustedPersistent) {
			return DriverError{hal.Errorf(hal.Status(r.Status), "%s", Text(s.Message()))}
		}
	}
	switch s.Code() {
	case codes.Unavailable, codes.Canceled, codes.Aborted:
		return hal.Errorf(hal.DeviceUnavailable, "%s: the driver is gone: %s", name, Text(s.Message()))
	}
	if errors.Is(err, context.Canceled) {
		return hal.Errorf(hal.DeviceUnavailable, "%s: the device is closed", name)
	}
	return DriverError{hal.Errorf(cmp.Or(ofCode[s.Code()], hal.GeneralFailure), "%s: %s", name, Text(s.Message()))}
}

func toPerformance(p hal.PerformanceInfo) *pb.Performance {
	return &pb.Performance{ExecTime: p.ExecTime, PowerUsage: p.PowerUsage}
}

func fromPerformance(p *pb.Performance) hal.PerformanceInfo {
	return hal.PerformanceInfo{ExecTime: p.GetExecTime(), PowerUsage: p.GetPowerUsage()}
}

// Describe is what a client hears of a device first.
func Describe(d hal.Device, session uint64) *pb.Attached {
	c := d.Capabilities()
	a := &pb.Attached{
		Session: session, Name: d.Name(), Description: d.Description(), Version: d.Version(), Type: int32(d.Type()),
		RelaxedScalar: toPerformance(c.RelaxedScalar), RelaxedTensor: toPerformance(c.RelaxedTensor),
		If: toPerformance(c.If), While: toPerformance(c.While), Operands: map[int32]*pb.Performance{},
	}
	model, data := d.NumberOfCacheFilesNeeded()
	a.ModelCacheFiles, a.DataCacheFiles = uint32(model), uint32(data)
	for _, p := range c.OperandPerformance() {
		a.Operands[int32(p.Type)] = toPerformance(p.Info)
	}
	for _, e := range d.SupportedExtensions() {
		x := &pb.Extension{Name: e.Name}
		for _, o := range e.OperandTypes {
			x.Operands = append(x.Operands, &pb.ExtensionOperand{Type: uint32(o.Type), Tensor: o.IsTensor, ByteSize: o.ByteSize})
		}
		a.Extensions = append(a.Extensions, x)
	}
	return a
}

// Capabilities is the inverse.
func Capabilities(a *pb.Attached) hal.Capabilities {
	c := hal.Capabilities{
		RelaxedScalar: fromPerformance(a.RelaxedScalar), RelaxedTensor: fromPerformance(a.RelaxedTensor),
		If: fromPerformance(a.If), While: fromPerformance(a.While),
	}
	for t, p := range a.Operands {
		c.Update(nn.OperandType(t), fromPerformance(p))
	}
	return c
}

func Extensions(a *pb.Attached) []hal.Extension {
	var list []hal.Extension
	for _, e := range a.Extensions {
		x := hal.Extension{Name: e.Name}
		for _, o := range e.Operands {
			x.OperandTypes = append(x.OperandTypes, hal.ExtensionOperandType{Type: uint16(o.Type), IsTensor: o.Tensor, ByteSize: o.ByteSize})
		}
		list = append(list, x)
	}
	return list
}

func ToTiming(t hal.Timing) *pb.Timing {
	return &pb.Timing{OnDevice: t.OnDevice, InDriver: t.InDriver}
}

func FromTiming(t *pb.Timing) hal.Timing {
	if t == nil {
		return hal.NoTiming
	}
	return hal.Timing{OnDevice: t.OnDevice, InDriver: t.InDriver}
}

func ToRoles(list []hal.BufferRole) []*pb.Role {
	out := make([]*pb.Role, len(list))
	for i, r := range list {
		out[i] = &pb.Role{Model: r.ModelIndex, Io: r.IOIndex, Frequency: r.Frequency}
	}
	return out
}

func FromRoles(list []*pb.Role) []hal.BufferRole {
	out := make([]hal.BufferRole, len(list))
	for i, r := range list {
		out[i] = hal.BufferRole{ModelIndex: r.GetModel(), IOIndex: r.GetIo(), Frequency: r.GetFrequency()}
	}
	return out
}

// ToReply is the reply of an execution that succeeded, or ended with OUTPUT_INSUFFICIENT_SIZE.
func ToReply(res *hal.Result, err error) *pb.ExecuteReply {
	reply := &pb.ExecuteReply{Status: int32(hal.StatusOf(err)), Timing: ToTiming(hal.NoTiming)}
	if err != nil {
		reply.Message = err.Error()
	}
	for _, o := range res.OutputShapes() {
		reply.Shapes = append(reply.Shapes, &pb.Shape{Dimensions: o.Dimensions, Insufficient: !o.IsSufficient})
	}
	if res == nil {
		return reply
	}
	reply.Timing = ToTiming(res.Timing)
	reply.Stats = toStats(&res.Stats)
	return reply
}

// FromReply is the inverse; name is of the driver.
func FromReply(name string, r *pb.ExecuteReply) (*hal.Result, error) {
	res := &hal.Result{Timing: FromTiming(r.GetTiming())}
	for _, s := range r.GetShapes() {
		res.OutputDimensions = append(res.OutputDimensions, s.GetDimensions())
		res.Insufficient = append(res.Insufficient, s.GetInsufficient())
	}
	res.Stats = fromStats(r.GetStats())
	return res, Ended(name, r.GetStatus(), r.GetMessage())
}

// Ended is the error of an execution that a driver ended with a status; one that HAL 1.3 lacks is GENERAL_FAILURE.
func Ended(name string, status int32, message string) error {
	s := hal.Status(status)
	if s == hal.StatusNone {
		return nil
	}
	if message = Text(message); message == "" {
		message = fmt.Sprintf("%s: %v without a message", name, s)
	}
	if s < hal.StatusNone || s > hal.ResourceExhaustedPersistent {
		s, message = hal.GeneralFailure, fmt.Sprintf("%s: no status of HAL 1.3: %d: %s", name, status, message)
	}
	return DriverError{hal.Errorf(s, "%s", message)}
}

func ToArguments(list []hal.RequestArgument) []*pb.Argument {
	out := make([]*pb.Argument, len(list))
	for i, a := range list {
		out[i] = &pb.Argument{
			HasNoValue: a.HasNoValue, Pool: a.Location.PoolIndex, Offset: a.Location.Offset, Length: a.Location.Length, Dimensions: a.Dimensions,
		}
	}
	return out
}

func FromArguments(list []*pb.Argument) []hal.RequestArgument {
	out := make([]hal.RequestArgument, len(list))
	for i, a := range list {
		out[i] = hal.RequestArgument{
			HasNoValue: a.GetHasNoValue(), Dimensions: a.GetDimensions(),
			Location: hal.DataLocation{PoolIndex: a.GetPool(), Offset: a.GetOffset(), Length: a.GetLength()},
		}
	}
	return out
}
