# What examples say besides values: names, versions, failures, tolerances.
i = Input("op", "TENSOR_FLOAT32", "{2}")
o = Output("op", "TENSOR_FLOAT32", "{2}")      # named op1
Model().Operation("RELU", i).To(o)
Example({i: [-1, 1], o: [0, 1]}, {i: [2, -2], o: [2, 0]}) # two cases
Example(({i: [3, 3]}, {o: [3, 3]}))            # joins the first example
Example(([4, 5], [4, 5]), name="lists")        # the same value for all

# Relaxed cases have no version; others can be given one by name or by model.
m = Model("v").Operation("RELU", i).To(o).IntroducedIn("V1_0")
Example({i: [1, 2], o: [1, 2]}, model=m).AddRelaxed().AddVariations("float16", defaultName="plain")
Example.SetVersion("V1_1", "examples_v_plain", "examples_v_float16_all_inputs_as_internal")

# A failure; an output that is not compared; an operand without a value.
none = Parameter("none", ("TENSOR_FLOAT32", [2]), None)
scratch = IgnoredOutput("scratch", "TENSOR_FLOAT32", "{2, 1}")
f = Model("fails").Operation("LSTM", i, none).To([scratch, o])
Example({i: [1, 2], o: [0, 0], scratch: 0}, model=f).ExpectFailure()

# Inputs that are omitted, and tensors without elements.
empty = Input("empty", "TENSOR_INT32", "{0}")
zero = Output("zero", "TENSOR_QUANT8_ASYMM", "{0, 3}, 0.5f, 7")
Model("empty").Operation("GATHER", i, empty, [], 0.25, True, [1.5, 2.5]).To(zero)
Example({i: [1, 2], empty: [], zero: []})

t = Output("t", "TENSOR_INT32", "{1, 4}")
Model("random").Operation("RANDOM_MULTINOMIAL", i, 4, [7, 8]).To(t)
Example({i: [0, 1], t: [0] * 4}).WithMultinomialDistributionTolerance(0.05).AddVariations("float16")

# Operations are sorted so that producers come first.
a = Internal("a", "TENSOR_FLOAT32", "{2}")
b = Internal("b", "TENSOR_FLOAT32", "{2}")
Model("sorted").Operation("ADD", a, b, 0).To(o).Operation("EXP", b).To(a).Operation("NEG", i).To(b)
Example({i: [0, 1], o: [1, 0]}).AddVariations("int32", RelaxedModeConverter(False), ("relu", [o]), includeDefault=False)
