package driver

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// HalRuleChecks vary one thing of a right call, packet, model or value at a time.
func RuleChecks() []check.Check {
	return []check.Check{
		{Name: "what a client asks for reaches the driver", Rows: []string{"A3-3", "A8-5", "A8-6", "A8-8", "A9-1", "A9-2", "A9-3", "E1-2", "E1-5", "A5-5"}, Run: optionsArrive},
		{Name: "arguments too few and too many", Rows: []string{"E3-1", "E3-2", "E3-4", "E1-8"}, Run: argumentCounts, EachDevice: true},
		{Name: "the callback reports a passed deadline", Rows: []string{"E1-9", "I4-24"}, Run: passedAtLaunch, EachDevice: true},
		{Name: "each word of a packet", Rows: []string{"E4-1", "E4-2", "E4-3", "A6-5", "A6-6", "A6-12"}, Run: packetWords},
		{Name: "what a burst's client answers for slots, and a queue that just holds a result", Rows: []string{"E3-3", "E4-4", "A6-17", "A5-5"}, Run: burstCallbacks, EachDevice: true, InProcess: true},
		{Name: "tolerances at their limits", Rows: []string{"E5-1", "E5-2", "E5-4", "E5-5", "E5-7", "E5-8"}, Run: limitsOfTolerances},
		{Name: "device memories keep apart", Rows: []string{"A10-6", "A10-7", "A10-1", "A10-4"}, Run: twoMemories, EachDevice: true},
		{Name: "subgraphs that are called twice", Rows: []string{"E1-1", "A8-2"}, Run: sharedSubgraph},
		{Name: "kinds of types and parts of codes", Rows: []string{"D2-2", "A0-7", "D3-10"}, Run: kindsOfTypes},
	}
}

// recorder is a driver that keeps the options of the calls that reach it.
type recorder struct {
	hal.Device
	prepared hal.PrepareOptions
	executed hal.ExecuteOptions
	cached   *hal.TimePoint
	after    time.Duration
	called   string
}

type recorded struct {
	hal.PreparedModel
	d *recorder
}

func (d *recorder) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	d.prepared = o
	p, err := d.Device.PrepareModel(m, hal.PrepareOptions{})
	return &recorded{p, d}, err
}

func (d *recorder) PrepareModelFromCache(deadline *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	d.cached, d.prepared.Cache = deadline, c
	return nil, hal.Errorf(hal.GeneralFailure, "nothing is cached")
}

func (p *recorded) note(call string, o hal.ExecuteOptions) { p.d.called, p.d.executed = call, o }

func (p *recorded) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	p.note("execute", o)
	return p.PreparedModel.Execute(r, hal.ExecuteOptions{Functional: true})
}

func (p *recorded) CreateReusableExecution(r *hal.Request, o hal.ExecuteOptions) (hal.Execution, error) {
	p.note("reusable", o)
	return p.PreparedModel.CreateReusableExecution(r, hal.ExecuteOptions{Functional: true})
}

func (p *recorded) ExecuteFenced(r *hal.Request, _ []*hal.SyncFence, o hal.ExecuteOptions, after time.Duration) (*hal.FencedExecution, error) {
	p.note("fenced", o)
	p.d.after = after
	return p.PreparedModel.ExecuteFenced(r, nil, hal.ExecuteOptions{Functional: true}, 0)
}

// optionsArrive passes a distinct value of each option of each call, through the interfaces of every version and
// through a service.
func optionsArrive(t *check.T) {
	d := &recorder{Device: cpudriver.New(cpudriver.Config{})}
	there, stop := check.V2(service.Loopback(d))(t, "service")
	defer stop()
	late := hal.TimePoint(math.MaxInt64 / 2)
	token := hal.CacheToken{3: 7, 31: 9}
	m := check.AddModel(nn.TensorFloat32)
	const loop, after = 7 * time.Second, 11 * time.Second
	for how, x := range map[string]hal.Device{"in process": d, "as a service": there} {
		old := compat.NewDevice(x)
		prepared := func(what string, want hal.PrepareOptions, call func(cb compat.PreparedModelCallback) hal.Status) *compat.PreparedModel {
			p := notified(t, what, call)
			o := d.prepared
			if o.Preference != want.Preference || o.Priority != want.Priority || (o.Deadline == nil) != (want.Deadline == nil) || o.Deadline != nil && *o.Deadline != *want.Deadline || o.Cache.Token != want.Cache.Token {
				t.Errorf("%s, %s: the driver gets %+v, want %+v", how, what, o, want)
			}
			return p
		}
		prepared("prepareModel", hal.PrepareOptions{Preference: hal.FastSingleAnswer, Priority: hal.PriorityMedium}, func(cb compat.PreparedModelCallback) hal.Status { return old.PrepareModel(m, cb) })
		for p := hal.LowPower; p <= hal.SustainedSpeed; p++ {
			prepared("prepareModel_1_1", hal.PrepareOptions{Preference: p, Priority: hal.PriorityMedium}, func(cb compat.PreparedModelCallback) hal.Status { return old.PrepareModel_1_1(m, p, cb) })
			prepared("prepareModel_1_2", hal.PrepareOptions{Preference: p, Priority: hal.PriorityMedium, Cache: hal.Cache{Token: token}},
				func(cb compat.PreparedModelCallback) hal.Status {
					return old.PrepareModel_1_2(m, p, hal.Cache{Token: token}, cb)
				})
		}
		var p *compat.PreparedModel
		for q := hal.PriorityLow; q <= hal.PriorityHigh; q++ {
			o := hal.PrepareOptions{Preference: hal.SustainedSpeed, Priority: q, Deadline: &late, Cache: hal.Cache{Token: token}}
			p = prepared("prepareModel_1_3", o, func(cb compat.PreparedModelCallback) hal.Status { return old.PrepareModel_1_3(m, o, cb) })
		}
		d.cached = nil
		old.PrepareModelFromCache_1_3(&late, hal.Cache{Token: token}, func(hal.Status, *compat.PreparedModel) {})
		if d.cached == nil || *d.cached != late || d.prepared.Cache.Token != token {
			t.Errorf("%s, prepareModelFromCache_1_3: deadline %v, token %v", how, d.cached, d.prepared.Cache.Token)
		}
		executed := func(what string, measure, limits bool) {
			o := d.executed
			if o.MeasureTiming != measure || (o.Deadline != nil) != limits || limits && (*o.Deadline != late || o.LoopTimeout != loop) {
				t.Errorf("%s, %s (%s): the driver gets %+v", how, what, d.called, o)
			}
		}
		for _, measure := range []bool{false, true} {
			r, _, _ := check.Shared(m)
			ended := make(chan struct{}, 1)
			cb := func(hal.Status, []hal.OutputShape, hal.Timing) { ended <- struct{}{} }
			p.Execute_1_2(r, measure, cb)
			<-ended
			executed("execute_1_2", measure, false)
			p.Execute_1_3(r, measure, &late, loop, cb)
			<-ended
			executed("execute_1_3", measure, true)
			p.ExecuteSynchronously(r, measure)
			executed("executeSynchronously", measure, false)
			p.ExecuteSynchronously_1_3(r, measure, &late, loop)
			executed("executeSynchronously_1_3", measure, true)
			if _, f, _ := p.ExecuteFenced(r, nil, measure, &late, loop, after); f != nil {
				<-f.Done()
			}
			executed("executeFenced", measure, true)
			check.Equal(t, how+", executeFenced: time after the fences", d.after, after)
		}
	}
}

func argumentCounts(t *check.T) {
	p, m := t.Adder()
	for what, change := range map[string]func(r *hal.Request){
		"an input too few": func(r *hal.Request) { r.Inputs = r.Inputs[:1] }, "no inputs": func(r *hal.Request) { r.Inputs = nil },
		"an input too many":  func(r *hal.Request) { r.Inputs = append(r.Inputs, r.Inputs[0]) },
		"no outputs":         func(r *hal.Request) { r.Outputs = nil },
		"an output too many": func(r *hal.Request) { r.Outputs = append(r.Outputs, r.Outputs[0]) },
	} {
		r, _, _ := check.Shared(m)
		change(r)
		res, err := p.Execute(r, hal.ExecuteOptions{MeasureTiming: true})
		t.Status("execute with "+what, err, hal.InvalidArgument)
		check.Equal(t, "a result of a bad request", res == nil, true)
		f, err := p.ExecuteFenced(r, nil, hal.ExecuteOptions{MeasureTiming: true}, 0)
		t.Status("executeFenced with "+what, err, hal.InvalidArgument)
		check.Equal(t, "a fence of a bad request", f == nil, true)
		_, err = p.CreateReusableExecution(r, hal.ExecuteOptions{})
		t.Status("createReusableExecution with "+what, err, hal.InvalidArgument)
		b := check.V(p.ConfigureExecutionBurst())(t, "burst")
		t.Status("a burst with "+what, check.Err(b.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
		t.OK("close", b.Close())
	}
	r, _, _ := check.Shared(m)
	_, err := p.ExecuteFenced(r, nil, hal.ExecuteOptions{}, -1)
	t.Status("a time below 0 after the fences", err, hal.InvalidArgument)
}

func passedAtLaunch(t *check.T) {
	p, m := t.Adder()
	passed := hal.TimePoint(0)
	missed := func(what string, s hal.Status) {
		t.Check(s == hal.MissedDeadlinePersistent || s == hal.MissedDeadlineTransient, "%s with a deadline that has passed: %v", what, s)
	}
	old := compat.NewDevice(t.Device)
	told := make(chan hal.Status, 1)
	launch := old.PrepareModel_1_3(m, hal.PrepareOptions{Deadline: &passed}, func(s hal.Status, p *compat.PreparedModel) {
		t.Check(p == nil, "a prepared model after its deadline")
		told <- s
	})
	check.Equal(t, "launch of prepareModel_1_3", launch, hal.StatusNone)
	missed("prepareModel_1_3", <-told)
	q := notified(t, "prepareModel_1_3", func(cb compat.PreparedModelCallback) hal.Status {
		return old.PrepareModel_1_3(m, hal.PrepareOptions{}, cb)
	})
	r, _, _ := check.Shared(m)
	launch = q.Execute_1_3(r, true, &passed, 0, func(s hal.Status, shapes []hal.OutputShape, timing hal.Timing) {
		t.Check(len(shapes) == 0 && timing == hal.NoTiming, "shapes %v and timing %v of a missed deadline", shapes, timing)
		told <- s
	})
	check.Equal(t, "launch of execute_1_3", launch, hal.StatusNone)
	missed("execute_1_3", <-told)
	s, _, timing := q.ExecuteSynchronously_1_3(r, true, &passed, 0)
	missed("executeSynchronously_1_3", s)
	check.Equal(t, "timing of a missed deadline", timing, hal.NoTiming)
	_, err := p.CreateReusableExecution(r, hal.ExecuteOptions{Deadline: &passed})
	t.OK("a reusable execution with a deadline that has passed", err)
}

// packetWords changes each word of each datum of a request and a result: an accepted packet is re-encoded to the same
// words, and all others are refused.
func packetWords(t *check.T) {
	request := (&burst.RequestMessage{
		Inputs:  []hal.RequestArgument{{Location: hal.DataLocation{PoolIndex: 1, Offset: 2, Length: 3}, Dimensions: []uint32{4, 5}}, {HasNoValue: true}},
		Outputs: []hal.RequestArgument{{Location: hal.DataLocation{Length: 6}, Dimensions: []uint32{7}}}, Slots: []int32{8, 9}, MeasureTiming: true,
	}).Packet()
	result := (&burst.ResultMessage{Status: hal.OutputInsufficientSize, Shapes: []hal.OutputShape{{Dimensions: []uint32{2, 0}}, {IsSufficient: true, Dimensions: []uint32{3}}},
		Timing: hal.Timing{OnDevice: 1<<40 + 5, InDriver: 1<<41 + 6}}).Packet()
	again := map[string]func([]burst.Datum) ([]burst.Datum, error){
		"request": func(p []burst.Datum) ([]burst.Datum, error) {
			m, err := burst.ParseRequest(p)
			if err != nil {
				return nil, err
			}
			return m.Packet(), nil
		},
		"result": func(p []burst.Datum) ([]burst.Datum, error) {
			m, err := burst.ParseResult(p)
			if err != nil {
				return nil, err
			}
			return m.Packet(), nil
		},
	}
	for what, good := range map[string][]burst.Datum{"request": request, "result": result} {
		same := func(change string, p []burst.Datum) {
			back, err := again[what](p)
			t.Check(err != nil || slices.Equal(back, p), "a %s with %s is taken as another", what, change)
		}
		refused := func(change string, p []burst.Datum) {
			t.Check(check.Err(again[what](p)) != nil, "a %s with %s is taken", what, change)
		}
		back := check.V(again[what](good))(t, what)
		check.Equal(t, what+" read and written", slices.Equal(back, good), true)
		refused("a datum behind its end", append(slices.Clone(good), good[len(good)-1]))
		longer := append(slices.Clone(good), good[len(good)-1])
		longer[0][8]++ // the head counts it
		refused("a datum behind its end that is counted", longer)
		refused("no last datum", good[:len(good)-1])
		refused("no datum", nil)
		for i := range good {
			for byt := range good[i] {
				for _, flip := range []byte{1, 2, 0x80} {
					p := slices.Clone(good)
					p[i][byt] ^= flip
					same(fmt.Sprintf("byte %d of datum %d changed", byt, i), p)
					if byt > 0 && byt < 8 {
						refused(fmt.Sprintf("padding byte %d of datum %d set", byt, i), p)
					}
				}
			}
		}
	}
	for s := hal.StatusNone; s <= hal.ResourceExhaustedPersistent; s++ {
		p := (&burst.ResultMessage{Timing: hal.NoTiming}).Packet()
		p[0][12] = byte(s)
		_, err := burst.ParseResult(p)
		check.Equal(t, fmt.Sprint("a result of status ", s, " in HAL 1.2"), err == nil, s <= hal.InvalidArgument)
	}
}

// arbitrarySlots is a client of a burst that answers for slots arbitrarily.
type arbitrarySlots struct {
	list func(slots []int32) []*hal.Memory
}

func (a *arbitrarySlots) GetMemories(slots []int32) ([]*hal.Memory, error) { return a.list(slots), nil }

func burstCallbacks(t *check.T) {
	p, m := t.Adder()
	s := serve(t, p, burst.ChannelLength)
	b, _ := check.Sums(m)
	request := message(s, b)
	s.Close()
	run := func(results int, measure bool, list func(slots []int32) []*hal.Memory) *burst.ResultMessage {
		request.MeasureTiming = measure
		requests, answersOf := burst.NewQueue(burst.ChannelLength), burst.NewQueue(results)
		server, err := burst.NewServer(burst.ServerConfig{Callback: &arbitrarySlots{list}, Requests: requests, Results: answersOf, Execute: func(r *hal.Request, _ bool) (*hal.Result, error) {
			return p.Execute(r, hal.ExecuteOptions{MeasureTiming: true}) // a driver that measures unasked
		}})
		t.OK("burst", err)
		defer server.Close()
		t.OK("write", requests.Write(request.Packet()))
		got := check.V(answersOf.Read(0))(t, "read")
		r := check.V(burst.ParseResult(got))(t, "result packet")
		return r
	}
	all := func(slots []int32) (list []*hal.Memory) {
		for _, slot := range slots {
			list = append(list, s.memories[slot])
		}
		return list
	}
	r := run(burst.ChannelLength, false, all)
	check.Equal(t, "status", r.Status, hal.StatusNone)
	check.Equal(t, "timing that nobody asked for", r.Timing, hal.NoTiming)
	size := len(r.Packet())
	r = run(size, false, all)
	check.Equal(t, "status where the queue just holds the result", r.Status, hal.StatusNone)
	r = run(size-1, false, all)
	failed(t, "a queue that is one datum too small", r)
	for what, list := range map[string]func(slots []int32) []*hal.Memory{
		"a memory too few": func(slots []int32) []*hal.Memory { return all(slots)[1:] }, "a memory too many": func(slots []int32) []*hal.Memory { return append(all(slots), s.memories[0]) },
		"no memories":      func([]int32) []*hal.Memory { return nil },
		"one that is none": func(slots []int32) []*hal.Memory { l := all(slots); l[len(l)-1] = nil; return l },
	} {
		r := run(burst.ChannelLength, true, list)
		failed(t, what, r)
		check.Equal(t, "status of "+what, r.Status, hal.InvalidArgument)
	}
}

// limitsOfTolerances compares at each limit, a hair within and a hair beyond it.
func limitsOfTolerances(t *check.T) {
	exact := compare.Criterion{Element: compare.Tolerance{Abs: 0.5, Rel: 0.25}}
	one := func(v float64) compare.Tensor {
		return compare.Tensor{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Data: check.Floats(float32(v))}
	}
	for _, e := range []float64{-8, -1, 0, 1, 8} {
		limit := 0.5 + 0.25*math.Abs(e)
		for _, sign := range []float64{-1, 1} {
			for share, want := range map[float64]bool{0.75: true, 1: true, 1.25: false} {
				r := compare.Tensors(one(e), one(e+sign*share*limit), exact)
				check.Equal(t, fmt.Sprintf("%v for %v", e+sign*share*limit, e), r.First == nil, want)
			}
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	values := []float64{nan, inf, -inf, 0, 3}
	loose := compare.Criterion{Element: compare.Tolerance{Abs: 1e30, Rel: 1e30}}
	for i, e := range values {
		for k, a := range values {
			check.Equal(t, fmt.Sprintf("%v for %v", a, e), compare.Tensors(one(e), one(a), loose).First == nil, i == k || i > 2 && k > 2)
		}
	}
	// The first and the last of several elements count, and the shape does.
	three := func(v ...float32) compare.Tensor {
		return compare.Tensor{Type: nn.TensorFloat32, Dimensions: []uint32{3}, Data: check.Floats(v...)}
	}
	for i := range 3 {
		v := []float32{1, 2, 3}
		v[i] += 10
		check.Equal(t, fmt.Sprint("element ", i, " wrong"), compare.Tensors(three(1, 2, 3), three(v...), exact).First == nil, false)
	}
	turned := three(1, 2, 3)
	turned.Dimensions = []uint32{1, 3}
	check.Equal(t, "another rank", compare.Tensors(three(1, 2, 3), turned, exact).First == nil, false)
	six := func(dims ...uint32) compare.Tensor {
		return compare.Tensor{Type: nn.TensorFloat32, Dimensions: dims, Data: check.Floats(1, 2, 3, 4, 5, 6)}
	}
	check.Equal(t, "the same shape", compare.Tensors(six(2, 3), six(2, 3), exact).First == nil, true)
	check.Equal(t, "another shape of as many elements", compare.Tensors(six(2, 3), six(3, 2), exact).First == nil, false)
	tenth := compare.Criterion{WrongPercent: 10} // rounded up
	for _, c := range []struct {
		n, wrong int
		accepts  bool
	}{{3, 0, true}, {3, 1, true}, {3, 2, false}, {10, 1, true}, {10, 2, false}, {11, 2, true}, {11, 3, false}} {
		e, a := make([]byte, c.n), make([]byte, c.n)
		for i := range c.wrong {
			a[i] = 1
		}
		x := func(b []byte) compare.Tensor {
			return compare.Tensor{Type: nn.TensorBool8, Dimensions: []uint32{uint32(c.n)}, Data: b}
		}
		check.Equal(t, fmt.Sprintf("%d of %d booleans wrong of a tenth", c.wrong, c.n), compare.Tensors(x(e), x(a), tenth).First == nil, c.accepts)
	}
	// Means: from ten elements on, of either sign, floats relative to values above 1.
	many := func(n int, v float32) compare.Tensor {
		x := make([]float32, n)
		for i := range x {
			x[i] = v
		}
		return compare.Tensor{Type: nn.TensorFloat32, Dimensions: []uint32{uint32(n)}, Data: check.Floats(x...)}
	}
	bias := compare.Criterion{Element: compare.Tolerance{Abs: 100}, MeanError: 0.5}
	for _, c := range []struct {
		n       int
		e, a    float32
		accepts bool
	}{{9, 0, 1, true}, {10, 0, 1, false}, {10, 0, -1, false}, {10, 0, 0.5, true}, {10, 0, 0.75, false}, {10, 8, 10, true}, {10, 8, 13, false}, {10, -8, -10, true}} {
		check.Equal(t, fmt.Sprintf("%d elements %v for %v with a bound of 0.5 on their mean", c.n, c.a, c.e), compare.Tensors(many(c.n, c.e), many(c.n, c.a), bias).First == nil, c.accepts)
	}
	// A float16 operand anywhere loosens float32; a name that only begins like the network's does not.
	mixed := check.AddModel(nn.TensorFloat32)
	mixed.Main.Operands = append(mixed.Main.Operands, check.Tensor(nn.TensorFloat16, nn.TemporaryVariable, 2))
	check.Equal(t, "float32 beside float16", compare.GeneratedTests(mixed)(nn.TensorFloat32).Element.Abs, 5.0/1024)
	check.Equal(t, "float32 alone", compare.GeneratedTests(check.AddModel(nn.TensorFloat32))(nn.TensorFloat32).Element.Abs, 1e-5)
	for name, steps := range map[string]float64{"mobilenet_quantized": 3, "mobilenet_224": 1, "add": 1} {
		m := check.AddModel(nn.TensorQuant8Asymm)
		m.Name = name
		for _, typ := range []nn.OperandType{nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned} {
			check.Equal(t, name+": steps of "+typ.String(), compare.GeneratedTests(m)(typ).Element.Abs, steps)
		}
	}
}

// twoMemories writes two device memories and reads them in the other order.
func twoMemories(t *check.T) {
	p, m := t.Adder()
	var memories [2]hal.Buffer
	n := int(m.Main.Operands[0].Bytes())
	pattern := func(i int) *hal.Memory {
		x := hal.NewMemory(n)
		for k := range x.Data {
			x.Data[k] = byte(17*i + k + 1)
		}
		return x
	}
	for i := range memories {
		memories[i] = t.Allocate(p, 2, 0)
		defer memories[i].Release()
		t.OK("copyFrom", memories[i].CopyFrom(pattern(i), nil))
	}
	t.Check(memories[0].Token() != memories[1].Token(), "two memories have token %d", memories[0].Token())
	for range 2 {
		for i, b := range memories {
			dst := hal.NewMemory(n)
			t.OK("copyTo", b.CopyTo(dst))
			t.Same(fmt.Sprint("device memory ", i), dst.Data, pattern(i).Data)
		}
	}
	old := compat.NewDevice(t.Device)
	q := notified(t, "prepareModel_1_3", func(cb compat.PreparedModelCallback) hal.Status {
		return old.PrepareModel_1_3(m, hal.PrepareOptions{}, cb)
	})
	role := []hal.BufferRole{{Frequency: 1}}
	for what, c := range map[string]struct {
		models []*compat.PreparedModel
		roles  []hal.BufferRole
	}{"a null model": {[]*compat.PreparedModel{nil}, role}, "no roles": {[]*compat.PreparedModel{q}, nil}, "no model of that number": {[]*compat.PreparedModel{q}, []hal.BufferRole{{ModelIndex: 1, Frequency: 1}}}} {
		s, b, token := old.Allocate(hal.BufferDesc{}, c.models, c.roles, nil)
		check.Equal(t, "allocate with "+what, s, hal.InvalidArgument)
		check.Equal(t, "its token", token, 0)
		check.Equal(t, "its buffer", b == nil, true)
	}
}

func sharedSubgraph(t *check.T) {
	m := check.ChoiceModel()
	m.Main.Operands[2].Data = m.Main.Operands[1].Data // both branches are one subgraph
	m.Referenced = m.Referenced[:1]
	t.OK("an IF with one subgraph for both branches", validate.Model(m))
	m = check.ChoiceModel()
	m.Referenced = append(m.Referenced, m.Referenced[0]) // not called
	t.OK("a subgraph that nobody calls", validate.Model(m))
}

func kindsOfTypes(t *check.T) {
	scalars := []nn.OperandType{nn.Float32, nn.Int32, nn.Uint32, nn.Bool, nn.Float16, nn.SubgraphRef, nn.OEM}
	quant := []nn.OperandType{nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned}
	for typ := nn.OperandType(0); typ.Valid(); typ++ {
		check.Equal(t, typ.String()+" is a scalar", typ.IsScalar(), slices.Contains(scalars, typ))
		check.Equal(t, typ.String()+" is an 8-bit asymmetric tensor", typ.IsQuant8(), slices.Contains(quant, typ))
	}
	for _, code := range []uint32{0, 1, 0x0001_0000, 0x1234_5678, 0x7fff_ffff} {
		prefix, number := nn.SplitExtensionCode(int32(code))
		check.Equal(t, fmt.Sprintf("prefix and number of %#x", code), uint32(prefix)<<16|uint32(number), code)
		check.Equal(t, fmt.Sprintf("%#x is a type of an extension", code), nn.IsExtensionOperandType(nn.OperandType(code)), code > 0xffff)
	}
}
