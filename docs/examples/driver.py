#!/usr/bin/env python3
"""A driver in another language: ADD, MUL and RELU of TENSOR_FLOAT32, for nnsoc.

    nnsoc driver proto --descriptor > driver.binpb
    python3 driver.py driver.binpb python.sock &
    nnsoc run MODEL --driver npu=python.sock --device python

It needs grpcio and protobuf (Debian: python3-grpcio python3-protobuf). The messages come from the
descriptor, so there is no generated code. docs/Protocol.md explains the calls.
"""
import array
import concurrent.futures
import functools
import itertools
import math
import mmap
import os
import struct
import sys
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# Statuses of HAL 1.3.
DEVICE_UNAVAILABLE, GENERAL_FAILURE, INVALID_ARGUMENT = 1, 2, 4
MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT = 5, 6
# Operations, operand types and lifetimes of NNAPI.
ADD, MUL, RELU = 0, 18, 19
FLOAT32, INT32, TENSOR_FLOAT32 = 0, 1, 3
TEMPORARY, INPUT, OUTPUT, CONSTANT_COPY, CONSTANT_REFERENCE, NO_VALUE, SUBGRAPH = range(7)
OEM = (10000, 10001)  # of vendors, before there were extensions
POOLS = ("ashmem", "mmap_fd", "hardware_buffer_blob")
ZEROS = {5: (0, 255), 7: (0, 0), 12: (0, 65535), 14: (-128, 127)}  # zero points of quantized types
INPUTS = {ADD: 3, MUL: 3, RELU: 1}  # the activation of ADD and MUL is an operand
NO_TIME = 2**64 - 1
HZ, LANES, LAUNCH, PJ_PER_ELEMENT = 10**9, 8, 1000, 2.0  # of a made-up engine


class Failure(Exception):
    """An error with a HAL status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def require(condition, text, status=INVALID_ARGUMENT):
    if not condition:
        raise Failure(status, text)


class Reader:
    """The serialized model: numbers of 7 bits a byte, constants in a part of their own."""

    def __init__(self, head, constants):
        self.head, self.data, self.at = head, constants, 0

    def take(self, n):
        require(0 <= n <= len(self.head) - self.at, "the model ends early")
        self.at += n
        return self.head[self.at - n:self.at]

    def uint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            require(shift < 64, "a number of more than 64 bits")

    def int(self):
        value = self.uint()
        return value >> 1 ^ -(value & 1)

    def float(self):
        return struct.unpack("<f", self.take(4))[0]

    def string(self):
        return bytes(self.take(self.uint()))

    def list(self):
        n = self.uint()
        require(n <= len(self.head) + 1, "a list longer than the model")
        return [self.uint() for _ in range(n - 1)] if n else []

    def constants(self):
        n = self.uint()
        if n == 0:
            return b""
        at = self.uint()
        require(at + n <= len(self.data), "constants beyond the model")
        return bytes(self.data[at:at + n])

    def count(self):
        n = self.uint()
        require(n <= len(self.head), "a count larger than the model")
        return n

    def operand(self):
        o = {"type": self.int(), "lifetime": self.int(), "dims": self.list(), "scale": self.float(), "zero": self.int()}
        if self.uint():  # quantization per channel
            self.uint()
            for _ in range(self.count()):
                self.float()
        o["extension"], _ = self.string(), self.string()
        o["data"] = self.constants() if self.uint() else bytes(self.uint())
        return o

    def graph(self):
        self.string()
        g = {"operands": [self.operand() for _ in range(self.count())]}
        g["operations"] = [(self.int(), self.list(), self.list()) for _ in range(self.count())]
        g["inputs"], g["outputs"], g["consumers"] = self.list(), self.list(), self.list()
        return g

    def model(self):
        self.string(), self.uint()  # name, relaxed
        extensions = [(self.string().decode(errors="replace"), self.uint()) for _ in range(self.count())]
        g = self.graph()  # this driver has no control flow and no states
        g["extensions"] = {prefix: name for name, prefix in extensions}
        return g


def elements(dims):
    return math.prod(dims) if dims else 0


def validate(g):
    """Rules of a graph; those of operations that this driver lacks are their drivers'."""
    operands, written = g["operands"], set()
    for name, life in (("inputs", INPUT), ("outputs", OUTPUT)):
        require(len(set(g[name])) == len(g[name]), "an operand is listed twice")
        for x in g[name]:
            require(x < len(operands) and operands[x]["lifetime"] == life, f"operand {x} is none of the {name}")
    for x, o in enumerate(operands):
        require(0 <= o["lifetime"] <= 6, "no such lifetime")
        require(0 <= o["type"] <= 15 or o["type"] in OEM or o["type"] >> 16 > 0, f"no type {o['type']}")
        require((o["lifetime"] == INPUT) == (x in g["inputs"]), f"operand {x} is in the wrong list")
        require((o["lifetime"] == OUTPUT) == (x in g["outputs"]), f"operand {x} is in the wrong list")
        require((o["lifetime"] == SUBGRAPH) == (o["type"] == 15), "a subgraph that is none")
        require(not o["data"] or o["lifetime"] in (CONSTANT_COPY, CONSTANT_REFERENCE, SUBGRAPH), "a value that is no constant")
        if o["type"] in ZEROS:
            lo, hi = ZEROS[o["type"]]
            require(0 < o["scale"] < math.inf and lo <= o["zero"] <= hi, "a scale or a zero point that cannot be")
        size = 4 * (elements(o["dims"]) if o["type"] == TENSOR_FLOAT32 else 1)
        if o["type"] in (FLOAT32, INT32, TENSOR_FLOAT32):
            require(o["scale"] == 0 and o["zero"] == 0, "a type without quantization has a scale or a zero point")
            require(o["type"] == TENSOR_FLOAT32 or not o["dims"], "a scalar with dimensions")
            if o["lifetime"] in (CONSTANT_COPY, CONSTANT_REFERENCE):
                require(len(o["data"]) == size, "a constant of another size than its type")
    for op, ins, outs in g["operations"]:
        require(outs, "an operation without outputs")
        for x in ins:
            require(x < len(operands), "an operation reads an operand that does not exist")
            life = operands[x]["lifetime"]
            require(life not in (TEMPORARY, OUTPUT) or x in written, "a value is read before it is written")
        for x in outs:
            require(x < len(operands) and operands[x]["lifetime"] in (TEMPORARY, OUTPUT) and x not in written,
                    "an operation writes what it may not")
            written.add(x)
        require(0 <= op < 107 or op == OEM[0] or op >> 16 > 0, f"no operation {op}")
        vendor = op == OEM[0] or op >> 16 > 0
        require(vendor or not any(operands[x]["type"] in OEM for x in ins + outs), f"operation {op} of a vendor's type")
        if op in INPUTS:
            require(len(ins) == INPUTS[op] and len(outs) == 1, f"operation {op} with {len(ins)} inputs")
            types = [operands[x]["type"] for x in ins + outs]
            require(types[:2] == types[:1] * 2 and types[-1] == types[0], f"operation {op} of several types")
            require(types[0] not in (FLOAT32, INT32) and (op == RELU or types[2] == INT32), f"operation {op} of wrong types")
    require(all(x in written for x in g["outputs"]), "an output that nothing writes")
    uses = [sum(ins.count(x) for _, ins, _ in g["operations"]) for x in range(len(operands))]
    require(g["consumers"] in ([], uses), "wrong numbers of consumers")


def refusal(g, op, ins, outs):
    """Why an operation is not supported, "" if it is."""
    if op >> 16 in g["extensions"]:
        return f"extension {g['extensions'][op >> 16]} is not supported"
    if op not in INPUTS:
        return f"{'OEM_OPERATION' if op == OEM[0] else f'operation {op}'}: this driver has ADD, MUL and RELU"
    tensors = [g["operands"][x] for x in (ins[:2] if op != RELU else ins) + outs]
    if any(o["type"] != TENSOR_FLOAT32 or not elements(o["dims"]) for o in tensors):
        return "this driver computes TENSOR_FLOAT32 of known shape"
    if any(o["dims"] != tensors[0]["dims"] for o in tensors):
        return "this driver does not broadcast"
    if op != RELU:
        act = g["operands"][ins[2]]
        if act["type"] != INT32 or len(act["data"]) != 4 or any(act["data"]):
            return "this driver fuses no activation"
    return ""


class Memory:
    """A memory of the client, mapped."""

    def __init__(self, pid, fd, size, read_only):
        require(0 < size <= 1 << 31 and fd >= 0, "a memory of this size cannot be")
        try:
            own = os.open(f"/proc/{pid}/fd/{fd}", os.O_RDONLY if read_only else os.O_RDWR)
            try:
                require(os.fstat(own).st_size >= size, "the memory is smaller than it says")
                self.map = mmap.mmap(own, size, mmap.MAP_SHARED, mmap.PROT_READ | (0 if read_only else mmap.PROT_WRITE))
            finally:
                os.close(own)
        except OSError as e:
            raise Failure(INVALID_ARGUMENT, str(e)) from e


class Driver:
    """The calls of the service. Whatever a client holds is in its session."""

    def __init__(self, pb):
        self.pb, self.lock, self.numbers, self.sessions, self.fs = pb, threading.Lock(), itertools.count(1), {}, 0

    def Attach(self, request, context):
        session, gone = next(self.numbers), threading.Event()
        self.sessions[session] = (request.pid, {})
        fast, slow = self.pb.Performance(exec_time=0.5, power_usage=0.5), self.pb.Performance(exec_time=3.4e38, power_usage=3.4e38)
        about = self.pb.Attached(session=session, name="python", description="a driver in Python", version="1", type=4,
                                 relaxed_scalar=slow, relaxed_tensor=fast, operands={TENSOR_FLOAT32: fast})
        getattr(about, "if").CopyFrom(slow)
        getattr(about, "while").CopyFrom(slow)
        context.add_callback(gone.set)
        yield about
        gone.wait()
        self.sessions.pop(session, None)

    def held(self, request, number, kind):
        thing = self.sessions.get(request.session, (0, {}))[1].get(number)
        require(isinstance(thing, kind), f"no {kind.__name__} has the number {number}")
        return thing

    def hold(self, request, thing):
        require(request.session in self.sessions, "no such session", DEVICE_UNAVAILABLE)
        number = next(self.numbers)
        self.sessions[request.session][1][number] = thing
        return self.pb.Handle(id=number)

    def GetStatus(self, request, context):
        return self.pb.StatusReply(status=0, now=self.fs // 10**6)

    def ShareMemory(self, request, context):
        require(request.session in self.sessions, "no such session", DEVICE_UNAVAILABLE)
        return self.hold(request, Memory(self.sessions[request.session][0], request.fd, request.bytes, request.read_only))

    def model(self, request):
        m = self.held(request, request.model.memory, Memory)
        head, constants = request.model.model_bytes, request.model.constant_bytes
        require(head + constants <= len(m.map), "the model is larger than its memory")
        data = bytes(m.map[:head + constants])
        g = Reader(data[:head], data[head:]).model()
        validate(g)
        return g

    def GetSupportedOperations(self, request, context):
        g = self.model(request)
        return self.pb.SupportReply(refusals=[refusal(g, *op) for op in g["operations"]])

    def PrepareModel(self, request, context):
        g = self.model(request)
        require(0 <= request.preference <= 2 and 0 <= request.priority <= 2, "no such preference or priority")
        if request.HasField("deadline"):
            require(request.deadline > self.fs // 10**6, "the deadline has passed", MISSED_DEADLINE_PERSISTENT)
        for op in g["operations"]:
            require(not refusal(g, *op), refusal(g, *op))
        return self.hold(request, g)

    def arguments(self, r, g, name):
        """The places of the tensors of a request, as slices of memories."""
        list_, operands = getattr(r, name), [g["operands"][x] for x in g[name]]
        require(len(list_) == len(operands), f"{len(list_)} {name}, the model has {len(operands)}")
        for pool in r.pools:
            require(pool.memory, "this driver has no device memory")
            require(pool.name != "hardware_buffer", "a hardware buffer that is no blob", GENERAL_FAILURE)
            require(pool.name in POOLS, "no such kind of memory")
        for a, o in zip(list_, operands):
            require(not a.has_no_value and a.pool < len(r.pools), "an argument without a pool")
            require(not a.dimensions or list(a.dimensions) == o["dims"], "other dimensions than the model's")
            pool = r.pools[a.pool]
            require(name == "inputs" or not pool.read_only, "an output in a memory to read only")
            m = self.held(r, pool.memory, Memory)
            size = 4 * elements(o["dims"])
            require(a.offset + a.length <= len(m.map), "an argument beyond its memory")
            require(a.length == size or name == "outputs" and a.length > size, "an argument of another size than its type")
            yield m.map, a.offset, a.length, o

    def Execute(self, r, context):
        g = self.held(r, r.prepared, dict)
        ins, outs = list(self.arguments(r, g, "inputs")), list(self.arguments(r, g, "outputs"))
        reply = self.pb.ExecuteReply(timing=self.pb.Timing(on_device=NO_TIME, in_driver=NO_TIME))
        start = self.fs
        if r.HasField("deadline"):
            require(r.deadline > start // 10**6, "the deadline has passed", MISSED_DEADLINE_PERSISTENT)
        reply.shapes.extend(self.pb.Shape(dimensions=o["dims"]) for *_, o in outs)
        values = {x: array.array("f", m[at:at + n]) for x, (m, at, n, _) in zip(g["inputs"], ins)}
        for x, o in enumerate(g["operands"]):
            if o["type"] == TENSOR_FLOAT32 and o["data"]:
                values[x] = array.array("f", o["data"])
        hz = r.clock[0].hz if r.engine_only and r.clock else HZ
        s = self.pb.Stats(clock_hz=hz)
        for i, (op, inputs, outputs) in enumerate(g["operations"]):
            a, b = values[inputs[0]], values[inputs[1 if op != RELU else 0]]
            compute = {ADD: lambda x, y: x + y, MUL: lambda x, y: x * y, RELU: lambda x, y: x if x > 0 or x != x else 0.0}[op]
            values[outputs[0]] = array.array("f", map(functools.partial(rounded, compute), a, b))
            cycles = LAUNCH + -(-len(a) // LANES)
            s.operations.add(index=i, cycles=cycles, time_fs=cycles * 10**15 // hz, energy_pj=PJ_PER_ELEMENT * len(a), bound_by="issue",
                             stalls=[self.pb.Count(name="issue", value=cycles)])
        if not r.functional:
            s.cycles, s.latency_fs = sum(o.cycles for o in s.operations), sum(o.time_fs for o in s.operations)
            s.instructions = s.cycles - LAUNCH * len(s.operations)
            s.energy_pj = sum(o.energy_pj for o in s.operations)
            s.stalls.add(name="issue", value=s.cycles)
            reply.stats.CopyFrom(s)
            with self.lock:
                self.fs = max(self.fs, start + s.latency_fs)
            if r.HasField("deadline"):
                require(-(-(start + s.latency_fs) // 10**6) <= r.deadline, "the execution ends after its deadline", MISSED_DEADLINE_TRANSIENT)
            if r.measure_timing:
                reply.timing.on_device = reply.timing.in_driver = s.latency_fs // 10**9
        for x, (m, at, n, o) in zip(g["outputs"], outs):
            m[at:at + 4 * elements(o["dims"])] = values[x].tobytes()
        return reply

    def CreateReusableExecution(self, r, context):
        g = self.held(r, r.prepared, dict)
        list(self.arguments(r, g, "inputs")), list(self.arguments(r, g, "outputs"))
        return self.pb.Empty()

    def text(self, request, context):
        g = self.held(request, request.id, dict)
        return self.pb.Text(text="".join(f"{i}: operation {op} {ins} -> {outs}\n" for i, (op, ins, outs) in enumerate(g["operations"])).encode())

    WriteListing = WriteProgram = text

    def Release(self, request, context):
        self.sessions.get(request.session, (0, {}))[1].pop(request.id, None)
        return self.pb.Empty()


def rounded(compute, x, y):
    """A float that array rounds; what is too large for it is infinite."""
    v = compute(x, y)
    return math.copysign(math.inf, v) if abs(v) >= 3.4028235677973366e38 else v


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def fail(pb, context, error):
    """Ends a call with a HAL status: a google.rpc.Status with a StatusReply as its detail."""
    detail = field(1, b"type.googleapis.com/nnsoc.driver.StatusReply") + field(2, pb.StatusReply(status=error.status).SerializeToString())
    status = b"\x08\x02" + field(2, str(error).encode()) + field(3, detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status),))
    context.abort(grpc.StatusCode.UNKNOWN, str(error))


def guarded(pb, method, streams):
    def one(request, context):
        try:
            return method(request, context)
        except Failure as e:
            fail(pb, context, e)

    def many(request, context):
        try:
            yield from method(request, context)
        except Failure as e:
            fail(pb, context, e)

    return many if streams else one


def main(descriptor, socket):
    pool, files = descriptor_pool.DescriptorPool(), descriptor_pb2.FileDescriptorSet()
    with open(descriptor, "rb") as f:
        files.ParseFromString(f.read())
    for f in files.file:
        pool.Add(f)
    service = pool.FindServiceByName("nnsoc.driver.Driver")
    make = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    pb = type("pb", (), {m.name: make(m) for m in service.file.message_types_by_name.values()})
    driver, handlers = Driver(pb), {}
    for m, p in zip(service.methods, files.file[0].service[0].method):
        if not hasattr(driver, m.name):
            continue  # bursts, fences, caches, device memory, passes: the client is told that they are not there
        kind = {(False, False): grpc.unary_unary_rpc_method_handler, (False, True): grpc.unary_stream_rpc_method_handler,
                (True, True): grpc.stream_stream_rpc_method_handler}[p.client_streaming, p.server_streaming]
        handlers[m.name] = kind(guarded(pb, getattr(driver, m.name), p.server_streaming), request_deserializer=make(m.input_type).FromString,
                                response_serializer=make(m.output_type).SerializeToString)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=64), options=[("grpc.max_receive_message_length", 16 << 20)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("nnsoc.driver.Driver", handlers),))
    server.add_insecure_port("unix:" + os.path.abspath(socket))
    server.start()
    print("python serves", socket, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
