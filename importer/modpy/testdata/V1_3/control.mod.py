# Models that refer to models: conversion goes into them, once each.
Value = ["TENSOR_FLOAT32", [2]]
Flag = ("TENSOR_BOOL8", [1])

def branch(op):
  x, y, z = Input("x", Value), Input("y", Value), Output("z", Value)
  return Model().Operation(op, x, y, 0).To(z)

def test(name, cond_value, shared):
  Configuration.use_shm_for_weights = shared
  x, y, z = Input("x", Value), Input("y", Value), Output("z", Value)
  cond = Parameter("cond", Flag, [cond_value])
  then = branch("ADD")
  model = Model().Operation("IF", cond, then, branch("SUB") if name == "both" else then, x, y).To(z)
  quant8 = DataTypeConverter("quant8", scale=0.5, zeroPoint=100)
  example = Example({x: [1, 2], y: [3, 4], z: [4, 6]}, model=model, name=name)
  example.AddVariations("relaxed", "float16", "int32", quant8, AllOutputsAsInternalCoverter())
  example.DisableDynamicOutputShapeVariation()

test("both", True, False)
test("same", False, True)

# A reference with a name, and a conversion that says what to do inside.
Configuration.use_shm_for_weights = False
n, n_out, out = Input("n", Value), Output("n_out", Value), Output("out", Value)
body = Model("body").IdentifyInputs(n).IdentifyOutputs(n_out).Operation("ADD", n, [1.0, 2.0], 0).To(n_out)
flag = Output("flag", Flag)
k = Input("k", Value)
cond = Model().Operation("LESS", k, [8.0, 8.0]).To(flag)
start = Input("start", Value)
body_ref = SubgraphReference("body_ref", body)
loop = Model("loop").Operation("WHILE", cond, body_ref, start).To(out)
half = DataTypeConverter(name="half").Identify({
    start: ["TENSOR_FLOAT16"],
    out: ["TENSOR_FLOAT16"],
    body_ref: DataTypeConverter().Identify({n: ["TENSOR_FLOAT16"], n_out: ["TENSOR_FLOAT16"]}),
})
Example({start: [1, 2], out: [8, 16]}).AddVariations(half).DisableLifeTimeVariation()
