package modpy

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// An error names the file, the line and the defect.
func TestErrors(t *testing.T) {
	const operands = "x = Input('x', 'TENSOR_FLOAT32', '{2}')\ny = Output('y', 'TENSOR_FLOAT32', '{2}')\n"
	const model = operands + "m = Model().Operation('RELU', x).To(y)\n"
	for _, c := range []struct{ src, want string }{
		{"a = 1\nclass C: pass", "t.mod.py:2:1: a class is not supported"},
		{"try:\n  pass\nexcept: pass", "t.mod.py:1:1: exception handling is not supported"},
		{"with open('f') as g: pass", "t.mod.py:1:1: a with statement is not supported"},
		{"def f():\n  yield 1", "t.mod.py:2:3: a generator is not supported"},
		{"def f():\n  global a\n  a = 1", "t.mod.py:2:3: a global statement is not supported"},
		{"@f\ndef g(): pass", "t.mod.py:1:1: a decorator is not supported"},
		{"if (a := 3): pass", "t.mod.py:1:7: assignment expressions"},
		{"a = 1 @ 2", "t.mod.py:1:7: operator @ is not supported"},
		{"a, *b = [1, 2]", "this expression cannot be assigned to"},
		{"a = b'x'", "t.mod.py:1:5: bytes literals"},
		{"from os import *", "t.mod.py:1:16: import * is not supported"},
		{"\nimport os", `t.mod.py:2:8: import: module "os" is not available`},
		{"import math\na = math.frexp(1)", `t.mod.py:2:9: module math has no "frexp"`},
		{"a = undefined_name", "t.mod.py:1:5: undefined: undefined_name"},
		{"a = (1,\nb = 2", "t.mod.py:2:3: \"=\" where \")\" is needed"},
		{"a = (1,\n2", "end of file inside '('"},
		{"a = [1}", `t.mod.py:1:7: unexpected "}"`},
		{"if 1:\npass", "where an indented block is needed"},
		{"if 1:\n    a = 1\n  b = 2", "t.mod.py:3:3: indentation matches no open block"},
		{"  a = 1", "t.mod.py:1:3: unexpected indentation"},
		{"a = 'x\n'", "t.mod.py:1:5: string is not terminated"},
		{"a = 1x", `t.mod.py:1:5: "1x" is not a number`},
		{"a = 3 $ 4", "t.mod.py:1:7: character \"$\" does not belong here"},
		{"a = f'{1 +}'", "t.mod.py:1:"},
		{"a = f'{1'", "f-string has a '{' without '}'"},
		{"a = '%d' % 'x'", "format \"%d\""},
		{"a = '{} {}'.format(1)", "no argument 1"},
		{"a = 1\na.b = 2", "t.mod.py:2:2: can't assign to .b field"},
		{"a = [1, 2][5]", "t.mod.py:1:11"},
		{"def f(a): return a\nf(1, 2)", "t.mod.py:2:2: function f accepts 1 positional argument"},
		{"def f():\n  return 1 + 'a'\nf()", "t.mod.py:2:12: "},
		{"assert 1 > 2, 'the reason'", "t.mod.py:1:1: assertion failed: the reason"},
		{"raise ValueError", "undefined: ValueError"},
		{"raise 'bad'", "t.mod.py:1:1: raised: bad"},
		{"a = (-8) ** 0.5", "complex numbers are not supported"},
		{"import numpy as np\na = np.array([[1], [2, 3]])", "t.mod.py:2:13: array: nested lists have different lengths"},
		{"import numpy as np\na = np.ones([2, 3]) + np.ones([4])", "do not broadcast"},
		{"import numpy as np\na = np.arange(4).reshape([3])", "4 elements cannot have the shape [3]"},
		{"x = Input('x', 'TENSOR_FLOAT32', '{2, a}')", "t.mod.py:1:10: Input x: shape \"{2, a}\": dimension \" a\" is not a number"},
		{"x = Input('x', 'TENSOR_FLOAT32', '2')", "has no {dimensions}"},
		{"x = Input('x', ('TENSOR_FLOAT32',))", "a type is (code, dimensions"},
		{"Example({})", "t.mod.py:1:8: Example: called without a Model"},
		{model + "Example({x: [1, 2]})", "t.mod.py:4:8: Example: y has no value"},
		{model + "Example([1, 2, 3])", "3 values where inputs and outputs are needed"},
		{model + "Example({x: ['a'], y: [1]})", "t.mod.py:4:8: Example: value of x: element 0: a string is not a number"},
		{model + "Example({x: [1, 2], y: [1, 2]}).AddVariations('float8')", `t.mod.py:4:46: AddVariations: no variation "float8"`},
		{model + "Example({x: [1, 2], y: [1, 2]}).AddNchw(x)", "t.mod.py:4:8: Example: DataLayoutConverter does not apply to x"},
		{model + "Example({x: [1, 2], y: [1, 2]}).AddVariations('quant8')", "needs scale and zeroPoint"},
		{model + "z = Input('z', 'TENSOR_FLOAT32', '{2}')\nExample({x: [1, 2], y: [1, 2]}).AddVariations(DataTypeConverter().Identify({z: ['TENSOR_INT32']}))", "names z, which the model does not have"},
		{model + "Example({x: [1, 2], y: [1, 2]}).AddAxis(5, x, y)", "axis 0 cannot become axis 5 of 1"},
		{model + "Example({x: [1, 2, 3], y: [1, 2]}).AddVariations('float16')", "operand x: 3 values for the dimensions [2]"},
		{operands + "Model().Operation('RELU', None).To(y)", "RELU: operand 0: a NoneType is not an operand"},
		{operands + "Model().To(y)", "To without an Operation"},
		{operands + "Model().Operation('ADD', x, y, 0).To(y)\nExample({x: [1, 2], y: [1, 2]})", "form a cycle"},
		{"x = Input('x', 'TENSOR_FLOAT8', '{2}')\nModel().Operation('RELU', x).To(Output('y', 'TENSOR_FLOAT8', '{2}'))\nExample(({x: [1]}, [1]))", "case t: operand x: no operand type \"TENSOR_FLOAT8\""},
		{operands + "a = Internal('a', 'TENSOR_FLOAT32', '{2}')\nb = Internal('b', 'TENSOR_FLOAT32', '{2}')\nm = Model().Operation('ADD', x, a, 0).To(b).Operation('RELU', b).To(a).Operation('RELU', a).To(y)\nExample({x: [1, 2], y: [1, 2]})", "form a cycle"},
		{"Configuration.other = 1", "Configuration has no \"other\""},
		{"m = Model()\nm.Foo()", "Foo"},
	} {
		_, err := Parse("t.mod.py", []byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\nerror %v\nwant  %s", c.src, err, c.want)
			continue
		}
		var e *Error
		require.Check(t, errors.As(err, &e) && e.Pos.Filename() == "t.mod.py" && e.Pos.Line >= 1, "%q: error %#v has no position", c.src, err)
	}
}

// What a specification uses is bounded, whichever way it is spent.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"while True: pass", "too many steps"},
		{"for i in range(10 ** 12): pass", "too many steps"},
		{"def f(n): return f(n + 1)\nf(0)", "calls are nested deeper"},
		{"f = lambda n: g(n)\ng = lambda n: f(n)\nf(0)", "calls are nested deeper"},
		{"def f(): return sorted([1], key=lambda v: f())\nf()", "calls are nested deeper"},
		{"from functools import partial\ndef f(): return partial(f)()\nf()", "calls are nested deeper"},
		{"a = [0] * 10 ** 12", "more than"},
		{"a = [0] * (10 ** 6) * (10 ** 6)", "more than"},
		{"a = 'x' * 10 ** 12", "more than"},
		{"a = list(range(10 ** 12))", "more than"},
		{"a = max(range(10 ** 12))", "more than"},
		{"a = sum(range(10 ** 12))", "more than"},
		{"a = sorted(range(10 ** 12))", "more than"},
		{"a = list(zip(range(10 ** 12)))", "more than"},
		{"a = tuple(enumerate(range(10 ** 12)))", "more than"},
		{"a = set(range(10 ** 12))", "more than"},
		{"a = dict(enumerate(range(10 ** 12)))", "more than"},
		{"a = [*range(10 ** 12)]", "more than"},
		{"a = []\na += range(10 ** 12)", "more than"},
		{"a = []\na.extend(range(10 ** 12))", "more than"},
		{"a = [1]\nwhile True: a = a + a", "too many steps"},
		{"a = [1]\nwhile True: a.extend(a)", "too many steps"},
		{"a = 'x'\nwhile True: a += a", "too many steps"},
		{"a = 'x' * 1000\nwhile True: a = a.replace('x', a)", "exceeds"},
		{"a = 'x' * 1000\nwhile True: a = a.join([a] * 1000)", "exceeds"},
		{"a = 'x' * 1000\nwhile True: a = f'{a}{a}'", "more than"},
		{"a = 'x' * 1000\nwhile True: a = '%s%s' % (a, a)", "more than"},
		{"a = 'x' * 1000\nwhile True: a = '{0}{0}'.format(a)", "more than"},
		{"a = '%1000000d' % 3", "not supported"},
		{"a = [1]\nfor i in range(12): a = [a] * 10\nb = str(a)", "exceeds"},
		{"a = [1]\nb = [1]\nfor i in range(12):\n  a = [a] * 10\n  b = [b] * 10\nc = a == b", "too large to compare"},
		{"a = [1]\nb = [1]\nfor i in range(12):\n  a = [a] * 10\n  b = [b] * 10\nc = a in [b]", "too large to compare"},
		{"a = [0] * 100000\nwhile True: b = a[1:]", "uses more than"},
		{"a = list(range(100000))\nwhile True: b = 3.5 in a", "uses more than"},
		{"a = list(range(100000))\nwhile True: a.insert(0, 1)", "too many steps"},
		{"a = 'x' * 100000\nwhile True: a.split('y')", "too many steps"},
		{"a = {i: i for i in range(10000)}\nwhile True: a.items()", "too many steps"},
		{"a = 2\nwhile True: a = a * a", "exceeds 4096 bits"},
		{"a = 2 ** 10 ** 10", "exceeds 4096 bits"},
		{"a = 3\nwhile True: a = a << 500", "exceeds 4096 bits"},
		{"import numpy as np\na = np.zeros([10 ** 6, 10 ** 6])", "more than"},
		{"import numpy as np\na = np.ones([10 ** 5])\nwhile True: a = np.concatenate([a, a])", "more than"},
		{"import numpy as np\na = np.tile([1, 2], [10 ** 4, 10 ** 4, 10 ** 4])", "more than"},
		{"import numpy as np\na = np.repeat([1, 2], 10 ** 9)", "repeat: 1000000000 times"},
		{"import numpy as np\na = np.arange(10 ** 9)", "more than"},
		{"import numpy as np\na = np.ones([3000, 3000])\nb = np.dot(a, a)", "more than"},
		{"import itertools\na = itertools.product(range(100), repeat=9)", "more than"},
		{"import itertools\na = itertools.permutations(range(50))", "more than"},
		{"import random\na = random.sample(range(10 ** 12), 3)", "more than"},
		{"x = Input('x', 'TENSOR_FLOAT32', '{1}')\ny = Output('y', 'TENSOR_FLOAT32', '{1}')\nm = Model().Operation('RELU', x).To(y)\ne = Example({x: [1], y: [1]})\nfor i in range(16): e.AddVariations('relaxed', 'float16')", "more than"},
		{"y = IgnoredOutput('y', 'TENSOR_FLOAT32', '{1000000, 1000000}')\nm = Model().Operation('RELU', 0).To(y)\nExample(({}, {}))", "more than"},
		{strings.Repeat("(", 1000), "nested deeper"},
		{strings.Repeat("-", 1000) + "1", "nested deeper"},
		{"a = " + strings.Repeat("not ", 1000) + "1", "nested deeper"},
		{"a = 1" + strings.Repeat(" + 1", 5000), "operators in a row"},
		{"a = b" + strings.Repeat(".c", 5000), "operators in a row"},
		{"a = 1" + strings.Repeat(" if 1 else 2", 1000), "nested deeper"},
		{"a = " + strings.Repeat("lambda: ", 1000) + "1", "nested deeper"},
		{"a = 1" + strings.Repeat(" ** 1", 1000), "nested deeper"},
	} {
		require.ErrorContains(t, require.Err(run("t.mod.py", "t.mod.py", []byte(c.src), 1<<20, 1<<20)), c.want, c.src)
	}
	require.ErrorContains(t, require.Err(Parse("t.mod.py", make([]byte, maxSource+1))), "exceeds", "a source too long")
}
