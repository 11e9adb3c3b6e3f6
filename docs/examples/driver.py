#!/usr/bin/env python3
"""A driver in another language: ADD, MUL and RELU of TENSOR_FLOAT32, for nnsoc.

    nnsoc driver proto --descriptor > driver.binpb
    python3 driver.py driver.binpb python.sock &
    nnsoc run MODEL --driver npu=python.sock --device python

It needs grpcio and protobuf (Debian: python3-grpcio python3-protobuf). docs/Protocol.md explains the calls.
"""
import array
import concurrent.futures
import itertools
import math
import mmap
import os
import sys
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

# Errors of HAL 1.3 as gRPC's statuses.
INVALID, FAILURE, LATE, TOO_LATE = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNKNOWN,
                                    grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.FAILED_PRECONDITION)
# Operations, operand types and lifetimes of NNAPI.
ADD, MUL, RELU, OEM_OPERATION = 0, 18, 19, 10000
FLOAT32, INT32, TENSOR_FLOAT32, OEM, TENSOR_OEM_BYTE = 0, 1, 3, 10000, 10001
TEMPORARY, INPUT, OUTPUT, CONSTANT_COPY, CONSTANT_REFERENCE, NO_VALUE, SUBGRAPH = range(7)
ZEROS = {5: (0, 255), 7: (0, 0), 12: (0, 65535), 14: (-128, 127)}  # zero points of quantized types
INPUTS = {ADD: 3, MUL: 3, RELU: 1}  # the activation of ADD and MUL is an operand
POOLS = ("ashmem", "mmap_fd", "hardware_buffer_blob", "hardware_buffer")
NO_TIME = 2**64 - 1
HZ, LANES, LAUNCH, PJ_PER_ELEMENT = 10**9, 8, 1000, 2.0  # of a made-up engine
LARGEST, INFINITE = 3.4028234663852886e38, 3.4028235677973366e38  # float32, and what is rounded to infinity


class Failure(Exception):
    """An error of a call: its status and why."""


def require(condition, text, code=INVALID):
    if not condition:
        raise Failure(code, text)


def elements(operand):
    return math.prod(operand.dimensions) if operand.dimensions else 0


class Model:
    """The main subgraph of a model: this driver has no control flow and no states."""
    def __init__(self, head, values):
        graph, self.values = head.main, values
        self.operands, self.operations = graph.operands, graph.operations
        self.inputs, self.outputs = list(graph.inputs), list(graph.outputs)
        self.consumers, self.extensions = list(graph.consumers), {e.prefix: e.name.decode() for e in head.extensions}
        self.validate()

    def value(self, operand):
        at, n = operand.constant.offset, operand.constant.bytes
        require(at + n <= len(self.values), "a constant beyond the model")
        return self.values[at:at + n]

    def validate(self):
        """Rules of all graphs, and of the operations that this driver has."""
        operands, written = self.operands, set()
        for name, listed, life in (("inputs", self.inputs, INPUT), ("outputs", self.outputs, OUTPUT)):
            require(sorted(listed) == [x for x, o in enumerate(operands) if o.lifetime == life], f"wrong {name}")
        for o in operands:
            self.validate_operand(o)
        for op in self.operations:
            require(op.outputs and max(op.inputs, default=0) < len(operands), "no outputs, or inputs that are none")
            for x in op.inputs:
                require(operands[x].lifetime not in (TEMPORARY, OUTPUT) or x in written, "a value is not written yet")
            for x in op.outputs:
                require(x < len(operands) and operands[x].lifetime in (TEMPORARY, OUTPUT) and x not in written,
                        "an operation writes what it may not")
                written.add(x)
            vendor = op.type == OEM_OPERATION or op.type >> 16 > 0
            require(0 <= op.type < 107 or vendor, f"no operation {op.type}")
            types = [operands[x].type for x in (*op.inputs, *op.outputs)]
            require(vendor or not {OEM, TENSOR_OEM_BYTE} & set(types), f"operation {op.type} of a vendor's type")
            if op.type in INPUTS:
                require(len(op.inputs) == INPUTS[op.type] and len(op.outputs) == 1, "other numbers of operands")
                require(NO_VALUE not in (operands[x].lifetime for x in op.inputs), "an operand is left out")
                require(types[:2] == types[:1] * 2 and types[-1] == types[0], f"operation {op.type} of several types")
                require(types[0] not in (FLOAT32, INT32) and (op.type == RELU or types[2] == INT32), "wrong types")
                sizes = zip(*(operands[x].dimensions[::-1] for x in op.inputs[:2]))  # 0 is not known yet
                require(all(len(set(s) - {0, 1}) < 2 for s in sizes), "sizes that do not agree")
        require(set(self.outputs) <= written, "an output that nothing writes")
        uses = [sum(list(op.inputs).count(x) for op in self.operations) for x in range(len(operands))]
        require(self.consumers in ([], uses), "wrong numbers of consumers")

    def validate_operand(self, o):
        value, constant = self.value(o), o.lifetime in (CONSTANT_COPY, CONSTANT_REFERENCE)
        known = 0 <= o.type <= 15 or o.type in (OEM, TENSOR_OEM_BYTE) or o.type >> 16 > 0
        require(known and 0 <= o.lifetime <= 6, "no such type or lifetime")
        require((o.lifetime == SUBGRAPH) == (o.type == 15), "a subgraph that is none")
        require(not value or constant or o.lifetime == SUBGRAPH, "a value that is no constant")
        if o.type in ZEROS:
            lo, hi = ZEROS[o.type]
            require(0 < o.scale < math.inf and lo <= o.zero_point <= hi, "a scale or a zero point that cannot be")
        if o.type in (FLOAT32, INT32, TENSOR_FLOAT32):
            size = 4 * (elements(o) if o.type == TENSOR_FLOAT32 else 1)
            require(o.scale == 0 and o.zero_point == 0, "a type without quantization has a scale or a zero point")
            require(o.type == TENSOR_FLOAT32 or not o.dimensions, "a scalar with dimensions")
            require(not constant or len(value) == size, "a constant of another size than its type")

    def refusal(self, op):
        """Why an operation is not supported, "" if it is."""
        if op.type >> 16 in self.extensions:
            return f"extension {self.extensions[op.type >> 16]} is not supported"
        if op.type not in INPUTS:
            return f"operation {'OEM_OPERATION' if op.type == OEM_OPERATION else op.type}: not ADD, MUL or RELU"
        tensors = [self.operands[x] for x in (*op.inputs[:2], *op.outputs)]
        if any(o.type != TENSOR_FLOAT32 or not elements(o) for o in tensors):
            return "this driver computes TENSOR_FLOAT32 of known shape"
        if any(o.dimensions != tensors[0].dimensions for o in tensors):
            return "this driver does not broadcast"
        if op.type != RELU:
            activation = self.operands[op.inputs[2]]
            if activation.constant.bytes != 4 or any(self.value(activation)):
                return "this driver fuses no activation"
        return ""


def compute(operation, x, y):
    v = x + y if operation == ADD else x * y if operation == MUL else x if x > 0 or x != x else 0.0
    return math.copysign(math.inf, v) if abs(v) >= INFINITE else v


class Memory:
    """A memory of the client, mapped."""
    def __init__(self, pid, fd, size, read_only):
        require(0 < size <= 1 << 31 and fd >= 0, "a memory of this size cannot be")
        try:
            with open(f"/proc/{pid}/fd/{fd}", "rb" if read_only else "r+b") as own:
                require(os.fstat(own.fileno()).st_size >= size, "the memory is smaller than it says")
                self.map = mmap.mmap(own.fileno(), size, prot=mmap.PROT_READ | (0 if read_only else mmap.PROT_WRITE))
        except OSError as e:
            raise Failure(INVALID, str(e)) from e


class Driver:
    """The calls of the service. Whatever a client holds is in its session."""
    def __init__(self, pb):
        self.pb, self.lock, self.numbers, self.sessions, self.fs = pb, threading.Lock(), itertools.count(1), {}, 0

    def Attach(self, request, context):
        session, gone = next(self.numbers), threading.Event()
        self.sessions[session] = (request.pid, {})
        fast, slow = (self.pb.Performance(exec_time=x, power_usage=x) for x in (0.5, LARGEST))
        context.add_callback(gone.set)
        yield self.pb.Attached(session=session, name="python", description="a driver in Python", version="1", type=4,
                               relaxed_scalar=slow, relaxed_tensor=fast, operands={TENSOR_FLOAT32: fast},
                               **{"if": slow, "while": slow})
        gone.wait()
        self.sessions.pop(session, None)

    def held(self, request, number, kind):
        thing = self.sessions.get(request.session, (0, {}))[1].get(number)
        require(isinstance(thing, kind), f"no {kind.__name__} has the number {number}")
        return thing

    def hold(self, request, thing):
        number = next(self.numbers)
        self.sessions[request.session][1][number] = thing
        return self.pb.Handle(id=number)

    def GetStatus(self, request, context):
        return self.pb.StatusReply(status=0, now=self.fs // 10**6)

    def ShareMemory(self, request, context):
        require(request.session in self.sessions, "no such session")
        pid, _ = self.sessions[request.session]
        return self.hold(request, Memory(pid, request.fd, request.bytes, request.read_only))

    def model(self, request):
        m = self.held(request, request.model.memory, Memory)
        head = request.model.model_bytes
        data = m.map[:head + request.model.constant_bytes]
        try:
            return Model(self.pb.ModelHead.FromString(data[:head]), data[head:])
        except (message.DecodeError, UnicodeDecodeError) as e:
            raise Failure(INVALID, str(e)) from e

    def GetSupportedOperations(self, request, context):
        model = self.model(request)
        return self.pb.SupportReply(refusals=map(model.refusal, model.operations))

    def PrepareModel(self, request, context):
        model = self.model(request)
        require(0 <= request.preference <= 2 and 0 <= request.priority <= 2, "no such preference or priority")
        self.in_time(request)
        require(not (why := "; ".join(filter(None, map(model.refusal, model.operations)))), why)
        return self.hold(request, model)

    def in_time(self, request, end=0):
        if request.HasField("deadline"):
            require(request.deadline > self.fs // 10**6, "the deadline has passed", TOO_LATE)
            require(request.deadline >= -(-end // 10**6), "the execution ends after its deadline", LATE)

    def arguments(self, r, model, listed, given):
        """The places of the tensors of a request, as slices of memories."""
        require(len(given) == len(listed), f"{len(given)} arguments for {len(listed)}")
        for pool in r.pools:
            require(pool.memory and pool.name in POOLS, "no such kind of memory")
            require(pool.name != "hardware_buffer", "a hardware buffer that is no blob", FAILURE)
        for a, o in zip(given, (model.operands[x] for x in listed)):
            require(not a.has_no_value and a.pool < len(r.pools), "an argument without a pool")
            require(not a.dimensions or a.dimensions == o.dimensions, "other dimensions than the model's")
            pool, size, written = r.pools[a.pool], 4 * elements(o), o.lifetime == OUTPUT
            require(not written or not pool.read_only, "an output in a memory to read only")
            m = self.held(r, pool.memory, Memory)
            require(a.offset + a.length <= len(m.map), "an argument beyond its memory")
            require(a.length == size or written and a.length > size, "an argument of another size than its type")
            yield m.map, slice(a.offset, a.offset + size)

    def bound(self, r):
        m = self.held(r, r.prepared, Model)
        return m, list(self.arguments(r, m, m.inputs, r.inputs)), list(self.arguments(r, m, m.outputs, r.outputs))

    def Execute(self, r, context):
        (model, ins, outs), start = self.bound(r), self.fs
        self.in_time(r)
        values = {x: array.array("f", m[at]) for x, (m, at) in zip(model.inputs, ins)}
        values.update((x, array.array("f", model.value(o))) for x, o in enumerate(model.operands)
                      if o.type == TENSOR_FLOAT32 and o.constant.bytes)
        s = self.pb.Stats(clock_hz=r.clock[0].hz if r.engine_only and r.clock else HZ)
        for i, op in enumerate(model.operations):
            a, b = values[op.inputs[0]], values[op.inputs[0 if op.type == RELU else 1]]
            values[op.outputs[0]] = array.array("f", map(compute, itertools.repeat(op.type), a, b))
            cycles = LAUNCH + -(-len(a) // LANES)
            s.operations.add(index=i, cycles=cycles, time_fs=cycles * 10**15 // s.clock_hz, bound_by="issue",
                             energy_pj=PJ_PER_ELEMENT * len(a), stalls=[self.pb.Count(name="issue", value=cycles)])
        reply = self.pb.ExecuteReply(timing=self.pb.Timing(on_device=NO_TIME, in_driver=NO_TIME), shapes=[
            self.pb.Shape(dimensions=model.operands[x].dimensions) for x in model.outputs])
        if not r.functional:
            s.cycles, s.latency_fs, s.energy_pj = (sum(getattr(o, name) for o in s.operations)
                                                   for name in ("cycles", "time_fs", "energy_pj"))
            s.instructions = s.cycles - LAUNCH * len(s.operations)
            s.stalls.add(name="issue", value=s.cycles)
            reply.stats.CopyFrom(s)
            self.in_time(r, start + s.latency_fs)
            with self.lock:
                self.fs = max(self.fs, start + s.latency_fs)
            if r.measure_timing:
                reply.timing.on_device = reply.timing.in_driver = s.latency_fs // 10**9
        for x, (m, at) in zip(model.outputs, outs):
            m[at] = values[x].tobytes()
        return reply

    def CreateReusableExecution(self, r, context):
        self.bound(r)
        return self.pb.Empty()

    def WriteProgram(self, request, context):
        return self.pb.Text(text="".join(map(str, self.held(request, request.id, Model).operations)).encode())
    WriteListing = WriteProgram

    def Release(self, request, context):
        self.sessions.get(request.session, (0, {}))[1].pop(request.id, None)
        return self.pb.Empty()


def guarded(method):
    def call(request, context):
        try:
            return method(request, context)
        except Failure as e:
            context.abort(*e.args)
    return call


def main(descriptor, socket):
    pool = descriptor_pool.DescriptorPool()
    with open(descriptor, "rb") as f:
        for file in descriptor_pb2.FileDescriptorSet.FromString(f.read()).file:
            pool.Add(file)
    service = pool.FindServiceByName("nnsoc.driver.Driver")
    make = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    pb = type("pb", (), {m.name: make(m) for m in service.file.message_types_by_name.values()})
    driver, handlers = Driver(pb), {}
    for m in service.methods:
        if hasattr(driver, m.name):  # clients are told of the others that they are not there
            method, streams = getattr(driver, m.name), m.name == "Attach"
            handler = grpc.unary_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
            handlers[m.name] = handler(method if streams else guarded(method), make(m.input_type).FromString,
                                       make(m.output_type).SerializeToString)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=64),
                         options=[("grpc.max_receive_message_length", 16 << 20)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, handlers),))
    server.add_insecure_port("unix:" + os.path.abspath(socket))
    server.start()
    print("python serves", socket, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
