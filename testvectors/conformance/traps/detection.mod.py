# Sections I.1 and I.3: boxes and their suppression. A box is x1, y1, x2, y2.

a, b, c = [0, 0, 10, 10], [0, 0, 10, 5], [20, 20, 30, 30]  # the first two share half of their area

def limit(row, scores, classes, boxes, kernel, threshold, least, result, most=-1, batches=None, fails=False):
  n = len(boxes)
  rois = []
  for box in boxes:
    rois = rois + box * classes
  kept = len(result)
  flat = []
  for r in result:
    flat = flat + r[1]
  trap(row, "BOX_WITH_NMS_LIMIT",
       [given(F32, [n, classes], scores), given(F32, [n, 4 * classes], rois), given(I32, [n], batches or [0] * n), threshold, most, kernel, 0.5, 0.5, least],
       [want(F32, [kept], [r[0] for r in result]), want(F32, [kept, 4], flat), want(I32, [kept], [r[2] for r in result]), want(I32, [kept], [r[3] for r in result])], fails)

# I1-26: an overlap of the threshold suffices; hard suppression drops, soft kernels lower the score and drop
# below another threshold.
scores = [0.95, 0.9, 0.95, 0.8, 0.95, 0.7]
limit("I1_26_hard", scores, 2, [a, b, c], 0, 0.1, 0.01, [[0.9, a, 1, 0], [0.7, c, 1, 0]])
limit("I1_26_linear", scores, 2, [a, b, c], 1, 0.1, 0.3, [[0.9, a, 1, 0], [0.7, c, 1, 0], [0.4, b, 1, 0]])
limit("I1_26_dropped", scores, 2, [a, b, c], 1, 0.1, 0.5, [[0.9, a, 1, 0], [0.7, c, 1, 0]])
limit("I1_26_gauss", scores, 2, [a, b, c], 2, 0.1, 0.3, [[0.9, a, 1, 0], [0.7, c, 1, 0], [0.8 * exp(-0.25 / 0.5), b, 1, 0]])

# I1-27: class 0 is the background; the limit is over all classes, then order is by class and score.
three = [0.9, 0.2, 0.6, 0.9, 0.5, 0.3]
limit("I1_27_classes", three, 3, [a, c], 0, 0.1, 0.01, [[0.5, c, 1, 0], [0.2, a, 1, 0], [0.6, a, 2, 0], [0.3, c, 2, 0]])
limit("I1_27_limit", three, 3, [a, c], 0, 0.1, 0.0, [[0.5, c, 1, 0], [0.6, a, 2, 0]], most=2)
limit("I1_27_kernel", scores, 2, [a, b, c], 3, 0.1, 0.0, [[0.9, a, 1, 0], [0.7, c, 1, 0]], fails=True)
limit("I1_27_order", scores, 2, [a, b, c], 0, 0.1, 0.0, [[0.9, a, 1, 0], [0.7, c, 1, 0]], batches=[0, 1, 0], fails=True)

# I1-28: deltas dy dx dh dw over the scales move an anchor yc xc h w; labels begin behind the background
# unless the flag says otherwise; what is left over is zero.
for flag in [False, True]:
  for regular in [False, True]:
    trap("I1_28_%d%d" % (flag, regular), "DETECTION_POSTPROCESSING",
         [given(F32, [1, 1, 3], [0.2, 0.9, 0.3]), given(F32, [1, 1, 4], [1, 0, 0, 0]), given(F32, [1, 4], [0.5, 0.5, 1, 1]), 2.0, 2.0, 1.0, 1.0, regular, 2, 1, 1, 0.4, 0.5, flag],
         [want(F32, [1, 2], [0.9, 0]), want(F32, [1, 2, 4], [0.5, 0, 1.5, 1, 0, 0, 0, 0]), want(I32, [1, 2], [1 if flag else 0, 0]), want(I32, [1], [1])])

# I1-29: boxes are clipped to the image before those not larger than the least size go.
def propose(row, anchors, least, result):
  n = len(result)
  flat = []
  for r in result:
    flat = flat + r[1]
  trap(row, "GENERATE_PROPOSALS",
       [given(F32, [1, 1, 1, 2], [0.9, 0.8]), given(F32, [1, 1, 1, 8], [0] * 8), given(F32, [2, 4], anchors), given(F32, [1, 2], [16, 16]), 1.0, 1.0, -1, -1, 0.5, least, False],
       [want(F32, [n], [r[0] for r in result]), want(F32, [n, 4], flat), want(I32, [n], [0] * n)])

propose("I1_29_least", [0, 0, 8, 8, 0, 0, 10, 20], 8.0, [[0.8, [0, 0, 10, 16]]])
propose("I1_29_outside", [20, 20, 30, 30, 0, 0, 10, 20], 1.0, [[0.8, [0, 0, 10, 16]]])
propose("I1_29_nms", [0, 0, 10, 10, 0, 0, 10, 11], 1.0, [[0.9, [0, 0, 10, 10]]])

# I3-18, I3-5, I3-16: what finds nothing has outputs without elements. The operations that permit such inputs go
# on with them, and here the others too (D-1222).
def empty(row, op, more=[], code=F32):
  none = given(F32, [1, 2], [0.9, 0.01])
  boxes = inner(F32, [0, 4])
  batches = inner(I32, [0])
  maps = inner(F32, [0, 2, 2, 1])
  chain(row, [
      ("BOX_WITH_NMS_LIMIT", [none, given(F32, [1, 8], a * 2), given(I32, [1], [0]), 0.1, -1, 0, 0.5, 0.5, 0.0],
       [want(F32, [0], []), boxes, want(I32, [0], []), batches]),
      ("ROI_ALIGN", [given(F32, [1, 2, 2, 1], [1, 2, 3, 4]), boxes, batches, 2, 2, 1.0, 1.0, 1, 1, False], [maps]),
      (op, [maps] + more, [want(code, [0, 2, 2, 1], [])]),
  ])

limit("I3_18_none", [0.9, 0.01], 2, [a], 0, 0.1, 0.0, [])
empty("I3_5_relu", "RELU")
for op, more in [("RELU6", []), ("LOGISTIC", []), ("TANH", []), ("HARD_SWISH", []), ("SOFTMAX", [1.0]), ("MUL", [const(F32, [1], [2]), NONE]),
                 ("CONV_2D", [const(F32, [1, 1, 1, 1], [1]), const(F32, [1], [0]), VALID, 1, 1, NONE, False]), ("MAX_POOL_2D", [VALID, 1, 1, 1, 1, NONE]),
                 ("RESIZE_BILINEAR", [2, 2, False]), ("SQRT", []), ("NEG", [])]:
  empty("I3_16_" + op.lower(), op, more)
