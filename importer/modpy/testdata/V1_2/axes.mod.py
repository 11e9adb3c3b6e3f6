# Every way to move and to drop axes.
data = list(range(4))
i = Input("in", "TENSOR_FLOAT32", "{1, 2, 2}")
o = Output("out", "TENSOR_FLOAT32", "{1, 2, 2}")
axis = Int32Scalar("axis", -1)

Model("all").Operation("SOFTMAX", i, 1.0, axis).To(o)
Example({i: data, o: data}).AddAllDimsAndAxis(i, o, axis).DisableLifeTimeVariation()

Model("positive").Operation("SOFTMAX", i, 1.0, axis).To(o)
Example({i: data, o: data}).AddAllPositiveAxis(i, o, axis).DisableLifeTimeVariation()
Example({i: data, o: data}, name="dims").AddAllDimsAndPositiveAxis(i, o, axis).DisableLifeTimeVariation()

Model("some").Operation("SOFTMAX", i, 1.0, axis).To(o)
Example({i: data, o: data}).AddAxis([0, -2], i, o, axis, includeDefault=False).DisableLifeTimeVariation()
Example({i: data, o: data}, name="one").AddAxis(1, i, o, axis, defaultName="last").DisableLifeTimeVariation()
Example({i: data, o: data}, name="all").AddAllAxis(i, o, axis).DisableLifeTimeVariation()

# Without an axis operand the last axis stays.
Model("dims").Operation("L2_NORMALIZATION", i).To(o)
Example({i: data, o: data}).AddDims([1, 3], i, o).DisableLifeTimeVariation()
Example({i: data, o: data}, name="all").AddAllDims(i, o).DisableLifeTimeVariation()
Example({i: data, o: data}, name="by_hand").AddVariations(
    AxisConverter(-1, 0, 3, drop=[2]).Identify([i, o]), includeDefault=False).DisableLifeTimeVariation()
