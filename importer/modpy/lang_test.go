package modpy

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// eval runs a program and returns the numbers in its variable result, by way of an expected output.
func eval(t *testing.T, program string) ([]float32, error) {
	t.Helper()
	src := program + `
x = Input("x", "TENSOR_FLOAT32", "{1}")
y = Output("y", ("TENSOR_FLOAT32", [len(result)]))
Model().Operation("FLOOR", x).To(y)
Example({x: [0], y: result}).DisableLifeTimeVariation()
`
	f, err := Parse("t.mod.py", []byte(src))
	if err != nil {
		return nil, err
	}
	var out []float32
	for b := f.Cases[0].Outputs[0].Data; len(b) > 0; b = b[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return out, nil
}

// programs leave a list of numbers in result. Those above the line "numpy" run under CPython too (see
// TestOraclePython).
var programs = []struct{ name, src, want string }{
	{"power", "result = [2 ** 10, 2 ** -1, -2 ** 2, 2 ** 3 ** 2, 2.0 ** 0.5 * 2 ** 0.5, (-1) ** 3, 0 ** 0, (-1) ** (10 ** 30)]", "1024 0.5 -4 512 2 -1 1 1"},
	{"chained comparison", "n = [0]\ndef f():\n  n[0] += 1\n  return 5\nresult = [int(1 < f() < 9 <= 9), int(1 < 2 < 2), n[0], int(3 > 2 > 1 < 4), int(1 < 2 in [2])]", "1 0 1 1 1"},
	{"stars in calls", "def f(*a, **k): return sum(a) + 100 * len(k)\nx = [1, 2]\ny = (3,)\nresult = [f(*x, *y), f(0, *x, 9, *y), f(*x, z=1, **{'q': 2}), f(*[], *[])]", "6 15 203 0"},
	{"stars in displays", "x = [1, 2]\nresult = [*x, 3, *x, *range(2)]\nt = (*x, 9)\nresult += list(t)", "1 2 3 1 2 0 1 1 2 9"},
	{"starred tuple", "x = 1, 2\nt = *x, 3\nresult = list(t)", "1 2 3"},
	{"slices", "x = list(range(10))\nx[::2] = [0] * 5\nx[1:3] = [7, 7, 7]\nresult = x[::-1] + x[2:4]\nresult[-1:] = []", "9 0 7 0 5 0 3 7 7 7 0 7"},
	{"slice assignment at the ends", "x = [1]\nx[0:0] = [5]\nx[9:] = [6]\nx[::-1] = [3, 2, 1]\nresult = x", "1 2 3"},
	{"chained assignment", "a = b = [1]\nb.append(2)\nc, d = e = (3, 4)\nresult = a + [c, d] + list(e)", "1 2 3 4 3 4"},
	{"in place", "a = [1]\nb = a\nb += (2,)\nx = 5\nx -= 2\nx *= 4\nx //= 5\nx **= 3\ny = 7\ny %= 4\nx <<= 1\nx |= 1\nd = {1: 2}\nd[1] += 5\nresult = a + [x, y, d[1]]", "1 2 17 3 7"},
	{"strings", "a = 'x' 'y' \"z\"\nb = '''a\nb'''\nresult = [len(a), len(b), len(r'\\n'), len('\\n\\x41\\u00e9'), len('a\\\nb'), int('{' in '{{}}'.format())]", "3 3 2 3 2 1"},
	{"percent", "s = '%d,%5.2f|%-4s|%04d|%s|%r|%x|%+d|%%|%g' % (3.7, 2.5, 'ab', -12, [1, 'q'], 'z', 255, 4, 0.0001)\nresult = [ord(c) for c in s] if False else [s.count(','), len(s), s.find('|'), int(s == \"3, 2.50|ab  |-012|[1, 'q']|'z'|ff|+4|%|0.0001\")]", "2 45 7 1"},
	{"percent of one and of a dict", "result = [int('%s' % 3 == '3'), int('%(a)s-%(b)02d' % {'a': 1, 'b': 2} == '1-02'), int('%s' % ([1],) == '[1]'), int('%c' % 65 == 'A')]", "1 1 1 1"},
	{"format", "result = [int(s) for s in ['{}{}'.format(1, 2), '{1}{0}'.format(1, 2), '{a}{b:03d}'.format(a=1, b=2), '{:>3}'.format('7').replace(' ', '1'), '{0[1]}'.format([5, 6])]]\nresult += [int('{:.3f} {:e} {:,} {:<4}| {:^5} {!r}'.format(1.5, 12345.678, 1234567, 'a', 'b', 'c') == \"1.500 1.234568e+04 1,234,567 a   |   b   'c'\")]", "12 21 1002 117 6 1"},
	{"f-strings", "a = 3\nb = {'k': 2.5}\nresult = [int(f'{a}{a + 1}') , float(f\"{b['k']:.2f}\"), len(f'{{{a!r}}}'), len(f'x' 'y' f'{a:>4}'), len(f'{a if a else \"no\"}')]", "34 2.5 3 6 1"},
	{"booleans are numbers", "result = [True + 1, sum([True, False, True]), sum(i < 2 for i in range(4)), 3 * True]", "2 2 2 3"},
	{"floats as text", "result = [int(str(v) == w) for v, w in [(1.0, '1.0'), (1e16, '1e+16'), (1e-5, '1e-05'), (123456.0, '123456.0'), (0.1, '0.1'), (-2.5e-7, '-2.5e-07'), (1e15, '1000000000000000.0'), (float('-inf'), '-inf'), (float('nan'), 'nan')]]", "1 1 1 1 1 1 1 1 1"},
	{"generators and comprehensions", "result = [sum(i * i for i in range(4)), max(x for x in [1, 5, 2]), len({i % 3 for i in range(9)}), {k: v for k, v in [(1, 2)]}[1], sum([i * j for i in range(3) for j in range(i) if j != 1])]", "14 5 3 2 0"},
	{"lambda and closures", "def adder(n):\n  def add(x, k=2): return x + n * k\n  return add\nf = lambda x, *r, k=1: x + len(r) + k\nresult = [adder(3)(1), adder(3)(1, k=0), f(1, 2, 3), (lambda: 7)(), list(map(lambda x: x + 1, [1, 2]))[1]]", "7 1 4 7 3"},
	{"recursion", "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nresult = [fib(12)]", "144"},
	{"control flow", "result = []\nfor i in range(10):\n  if i == 2: continue\n  elif i == 5: break\n  else:\n    result.append(i)\nwhile len(result) < 6: result.append(-1); result.append(-2)", "0 1 3 4 -1 -2"},
	{"for with several targets", "result = []\nfor i, (a, b) in enumerate(zip([1, 2], [3, 4])):\n  result += [i, a, b]\nfor c in 'ab': result.append(len(c))", "0 1 3 1 2 4 1 1"},
	{"slices of everything", "x = [1, 2, 3, 4]\nt = (5, 6, 7)\nresult = x[:-1] + x[::-2] + list(t[1:]) + list(range(10)[2:8:3]) + [len('abcd'[1:3]), int('abc'[::-1] == 'cba'), x[1:][0], x[9:] == []]\nx[1:3] = x[2:0:-1]\nresult += x", "1 2 3 4 2 6 7 2 5 2 1 2 1 1 3 2 4"},
	{"membership and equality", "result = [int(v) for v in [2 in [1, 2], 'a' in 'cat', 3 not in (1, 2), 'k' in {'k': 1}, [1, [2]] == [1, [2]], (1, 2) < (1, 3), True == 1, 1 == 1.0, 'a' != 'b', [] == (), None == 0]]", "1 1 1 1 1 1 1 1 1 0 0"},
	{"line continuation", "x = 1 + \\\n    2\ny = [1,\n  2,  # two\n\n  3,\n]\nif x == 3 and \\\n   y: result = [x] + y", "3 1 2 3"},
	{"conditional and logic", "result = [1 if [] else 2, (0 or 3), (1 and 4), int(not 0), int(not 1 == 2), int(None is None), int(1 is not None), int(3 not in [1, 2])]", "2 3 4 1 1 1 1 1"},
	{"integer arithmetic", "result = [7 // 2, -7 // 2, 7 % -3, -7 % 3, 7 / 2, 1_000, 0xff, 0b101, 0o17, 1 << 4, 5 & 6, 5 ^ 6, ~5, abs(-3), divmod(7, 2)[1], pow(2, 5)]", "3 -4 -2 2 3.5 1000 255 5 15 16 4 3 -6 3 1 32"},
	{"numbers", "result = [.5, 1., 1e3, 1.5E-2, -0.0, 1e+2, int('12'), int(-3.9), float('1.5'), round(2.5), round(3.5), round(-2.567, 2), round(1234, -2)]", "0.5 1 1000 0.015 -0 100 12 -3 1.5 2 4 -2.57 1200"},
	{"list methods", "x = [3, 1, 2]\nx.sort()\ny = x.copy()\ny.reverse()\ny.extend((7, 7))\ny.insert(0, 9)\nz = sorted(y, key=lambda v: -v, reverse=True)\nresult = x + y + [y.count(7), y.index(7), z[0], y.pop(), len(y)]\ndel x[0]\nresult += x", "1 2 3 9 3 2 1 7 7 2 4 1 7 5 2 3"},
	{"dict methods", "d = {'a': 1, 'b': 2}\nd.update({'c': 3}, e=9)\ne = d.copy()\ndel e['a']\nf = {**d, 'a': 7}\nresult = [len(d), len(e), f['a'], d.get('z', 5), sum(d.values()), len([k for k, v in f.items() if v > 2]), d.setdefault('q', 8), d.pop('q')]", "4 3 7 5 15 3 8 8"},
	{"string methods", "result = [int(x) for x in '1,2,3'.split(',')] + [len('-'.join(['a', 'b'])), int('7'.zfill(3) == '007'), 'abcabc'.count('bc'), int('Ab'.lower() == 'ab'), int('x'.ljust(3) == 'x  ')]", "1 2 3 3 1 2 1 1"},
	{"types", "def kind(v):\n  if isinstance(v, bool): return 0\n  if type(v) is int: return 1\n  if isinstance(v, (list, tuple)): return 2\n  if type(v) == str: return 3\n  return 4 if type(v) is float else 5\nresult = [kind(v) for v in [True, 1, [1], (1,), 'a', 1.0, {}]] + [int(isinstance(True, int))]", "0 1 2 2 3 4 5 1"},
	{"annotations and docstrings", "def f(x: int, y: float = 2.0) -> float:\n  '''Adds.'''\n  z: float = x + y\n  return z\nresult: list = [f(1)]", "3"},
	{"assert", "assert 1 < 2, 'no'\nassert [1]\nresult = [1]", "1"},
	{"shadowed built-ins", "def f(sum, input, max): return sum + input + max\nfilter = 3\nresult = [f(1, 2, filter)]", "6"},
	{"itertools", "import itertools\nfrom itertools import chain, permutations as perm\nresult = [len(list(itertools.product([1, 2], 'ab', repeat=2)))] + list(list(itertools.product([1, 2], [3]))[1]) + list(chain([1], (2,))) + [len(list(perm([1, 2, 3]))), len(list(itertools.combinations(range(4), 2)))]", "16 2 3 1 2 6 6"},
	{"functools and operator", "from functools import reduce, partial\nimport operator\nresult = [reduce(lambda a, b: a * b, [2, 3, 4]), reduce(operator.mul, [2, 3], 10), partial(pow, 2)(5)]", "24 60 32"},
	{"collections", "import collections\nP = collections.namedtuple('P', ['x', 'y'])\np = P(1, y=2)\nq, r = p\nresult = [p.x, p.y, q + r, p[1], len(p), int(P(1, 2) == p)]", "1 2 3 2 2 1"},
	{"namedtuple with defaults", "from collections import namedtuple\nP = namedtuple('P', 'x, y z', defaults=(5, [6]))\nQ = namedtuple('Q', ['a'], defaults=None)\np = P(1)\nr = P(1, z=7)\ns = p._replace(y=2)\nresult = [p.x, p.y, p.z[0], r.y, r.z, s.y, p[1], len(P._fields), P._field_defaults['y'], p._asdict()['x'], sum(P._make([1, 2, 3])), int(P(1, 2, 3) == (1, 2, 3)), sum(P(1, 2, 3) + (4,)), int(isinstance(p, tuple)), int(isinstance(p, P)), int(isinstance(p, Q)), Q(3).a, p.index(5), p.count(9), len(repr(P(1, 2, 3)))]", "1 5 6 5 7 2 5 3 5 1 6 1 10 1 1 0 3 1 0 16"},
	{"remainders of floats", "result = [-5.5 % 2, 5.5 % -2, -1 % 2.5, -7.5 % 2.5, 7.5 % -2.5, -0.0 % 1, -1e-17 % 1.0, 1e-20 % -3.0, -0.3 % 0.1, int(-3 % float('inf') == float('inf')), int(3 % float('-inf') == float('-inf'))] + list(divmod(-7.5, 2)) + list(divmod(7, -2.0)) + [-0.5 // 0.2, 6.0 // 0.1, 1.0 // 0.1, -3 // float('inf'), 0.0 // -2, -4.0 // 2]\nx = -3.5\nx %= 2\ny = -3.5\ny //= 2\nresult += [x, y]", ""},
	{"copy", "import copy\na = [[1], {2: [3]}]\nb = copy.deepcopy(a)\nc = copy.copy(a)\na[0].append(9)\na[1][2].append(9)\nresult = [len(b[0]), len(c[0]), len(b[1][2])]", "1 2 1"},
	{"math", "import math\nfrom math import exp as e, pi\nresult = [math.sqrt(16), math.floor(-1.5), math.ceil(1.2), e(0), math.log(8, 2), math.pow(2, 3), int(pi * 100), math.tanh(0), int(math.isnan(math.nan))]", "4 -2 2 1 3 8 314 0 1"},
	{"random", "import random\nr = random.Random(42)\nresult = [r.random(), r.uniform(-1, 1), r.randint(0, 100), r.randrange(5, 50, 5), r.gauss(0, 1), r.gauss(0, 1), r.choice([1, 2, 3]), r.getrandbits(40) % 1000]\nx = list(range(6))\nr.shuffle(x)\nresult += x + r.sample(range(10), 3) + r.sample(range(1000), 2)\nrandom.seed(7)\nresult.append(random.random())\nrandom.seed(2 ** 70)\nresult.append(random.random())", ""},
}

// arrays are programs with numpy, which the oracle does not have.
var arrays = []struct{ name, src, want string }{
	{"reverse an axis", "result = np.array([1, 2, 3, 4, 5, 6]).reshape([1, 3, 2])[:, ::-1, :].flatten().tolist()", "5 6 3 4 1 2"},
	{"transpose", "result = np.array(range(6)).reshape([2, 3]).transpose([1, 0]).flatten().tolist()", "0 3 1 4 2 5"},
	{"transpose by arguments", "result = list(np.transpose(np.arange(6).reshape(1, 2, 3), (2, 0, 1)).ravel()) + [np.zeros((2, 3)).T.shape[0]]", "0 3 1 4 2 5 3"},
	{"split and concatenate", "a, b = np.split(np.arange(8).reshape([2, 4]), 2, axis=1)\nresult = np.concatenate((b, a), axis=-1).flatten().tolist() + a.flatten().tolist()", "2 3 0 1 6 7 4 5 0 1 4 5"},
	{"stack", "result = np.stack([[1, 2], [3, 4]], axis=1).flatten().tolist()", "1 3 2 4"},
	{"linspace", "result = list(np.linspace(-1, 1, 5)) + list(np.linspace(0, 1, 2, endpoint=False))", "-1 -0.5 0 0.5 1 0 0.5"},
	{"arange", "result = list(np.arange(3)) + list(np.arange(1, 2, 0.5)) + list(np.arange(5, 0, -2))", "0 1 2 1 1.5 5 3 1"},
	{"fill", "result = (np.ones([2]) * 3 + np.zeros(2) - np.full((2,), 1.5)).tolist() + np.zeros_like([1, 2]).tolist() + np.eye(2).flatten().tolist()", "1.5 1.5 0 0 1 0 0 1"},
	{"repeat and tile", "result = np.repeat([1, 2], 2).tolist() + np.tile([1, 2], 2).tolist() + np.repeat([[1, 2]], 2, axis=0).flatten().tolist() + np.tile([[1], [2]], (1, 2)).flatten().tolist()", "1 1 2 2 1 2 1 2 1 2 1 2 1 1 2 2"},
	{"broadcast", "result = (np.array([[1], [2]]) + np.array([10, 20])).flatten().tolist() + (2 ** np.array([1, 3])).tolist() + (-np.array([7]) % 4).tolist()", "11 21 12 22 2 8 1"},
	{"types", "a = np.array([1.7, -1.7])\nresult = a.astype(int).tolist() + a.astype(np.int32).tolist() + np.array([255, 256], dtype=np.uint8).tolist() + [np.float32(0.1) - 0.1] + (np.array([7]) / 2).tolist() + (np.array([7]) // 2).tolist()", "1 -1 1 -1 255 0 1.4901161e-09 3.5 3"},
	{"indexing", "a = np.arange(12).reshape(3, 4)\nresult = [a[1][2], a[1, 2], a[-1, -1]] + a[:, 1].tolist() + a[0, 1:3].tolist() + a[::2, ::3].flatten().tolist() + a[..., 0].tolist() + a[[2, 0]][:, 0].tolist() + [a[None].shape[0]]", "6 6 11 1 5 9 1 2 0 3 8 11 0 4 8 8 0 1"},
	{"assignment", "a = np.zeros((2, 3))\na[0, 1] = 5\na[1] = [1, 2, 3]\na[:, 2] = 9\nb = a\nb += 1\na[0][0] = 7\na[1, :2] *= 2\nresult = a.flatten().tolist()", "7 6 10 4 6 10"},
	{"slices in place", "x = [1, 2, 3]\nx[:2] += [9]\na = np.arange(4)\na[1:3] -= 5\nresult = x + a.tolist()", "1 2 9 3 0 -4 -3 3"},
	{"reductions", "a = np.arange(6).reshape(2, 3)\nresult = [a.sum(), a.max(), np.mean(a), a.prod(), np.argmax(a)] + a.sum(axis=0).tolist() + np.max(a, axis=1).tolist() + [a.sum(axis=1, keepdims=True).shape[1]]", "15 5 2.5 0 5 3 5 7 2 5 1"},
	{"functions", "result = np.maximum([1, -2], 0).tolist() + np.abs([-3]).tolist() + np.round([0.5, 1.5, 2.567], 0).tolist() + np.clip([1, 5, 9], 2, 6).tolist() + np.exp([0]).tolist() + np.flip([1, 2]).tolist() + np.expand_dims([1, 2], 0).flatten().tolist() + np.dot([1, 2], [3, 4]).tolist() if False else np.maximum([1, -2], 0).tolist() + np.clip([1, 5, 9], 2, 6).tolist() + [np.dot([1, 2], [3, 4])]", "1 0 2 5 6 11"},
	{"shape", "a = np.array([[[1, 2]]])\nresult = list(a.shape) + [a.ndim, a.size, len(a.squeeze().shape), a.reshape(-1).shape[0], np.swapaxes(a, 0, 2).shape[0], len(a)]", "1 1 2 3 2 1 2 2 1"},
	{"random", "np.random.seed(0)\na = np.random.rand(2)\nb = np.random.RandomState(0)\nc = b.uniform(-1, 1, size=[2, 1])\nd = b.randint(0, 10, 3)\nnp.random.seed(0)\nresult = a.tolist() + c.flatten().tolist() + d.tolist() + [np.random.randn()]", "0.5488135 0.71518934 0.09762701 0.43037874 3 3 7 1.7640524"},
	{"pad", "result = np.pad([[1, 2]], [[1, 0], [0, 2]], 'constant').flatten().tolist() + np.pad([1, 2], 1, constant_values=7).tolist() + np.pad([1, 2, 3], (2, 3), mode='reflect').tolist() + np.pad([1, 2, 3], (2, 4), mode='symmetric').tolist() + np.pad([1, 2], 2, mode='edge').tolist()", "0 0 0 0 1 2 0 0 7 1 2 7 3 2 1 2 3 2 1 2 2 1 1 2 3 3 2 1 1 1 1 1 2 2 2"},
	{"roll, sort, cumsum, stacks", "a = np.arange(4)\nresult = np.roll(a, 1).tolist() + np.roll(a.reshape(2, 2), -1, axis=1).flatten().tolist() + np.sort([[3, 1], [2, 0]]).flatten().tolist() + np.cumsum([1, 2, 3]).tolist() + np.vstack([[1, 2], [3, 4]])[1].tolist() + np.hstack([[1], [2]]).tolist() + [np.divide(1, 2)]", "3 0 1 2 1 0 3 2 1 3 0 2 1 3 6 3 4 1 2 0.5"},
	{"remainders", "result = (np.array([-5.5, 5.5, -7.5]) % 2.5).tolist() + (np.array([-7, 7]) % -3).tolist() + np.mod([-1.5], 1).tolist() + np.fmod([-5.5], 2).tolist() + np.floor_divide([-5, 1.0], [2, 0.1]).tolist()", "2 0.5 0 -1 -2 0.5 -1.5 -3 9"},
	{"comparison", "a = np.array([1, 2, 3])\nresult = (a > 1).astype(int).tolist() + (a == [1, 0, 3]).tolist() + a[a >= 2].tolist() + [int((a != 2).all()), int((a < 4).all())]", "0 1 1 1 0 1 2 3 0 1"},
	{"iteration", "result = [int(r.sum()) for r in np.arange(4).reshape(2, 2)] + [x for x in np.array([7, 8])]", "1 5 7 8"},
}

func numbers(x []float32) string {
	s := make([]string, len(x))
	for i, v := range x {
		s[i] = fmt.Sprint(v)
	}
	return strings.Join(s, " ")
}

func TestPrograms(t *testing.T) {
	for _, p := range programs {
		got, err := eval(t, p.src)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		} else if p.want != "" && numbers(got) != p.want {
			t.Errorf("%s: %s, want %s", p.name, numbers(got), p.want)
		}
	}
	for _, p := range arrays {
		got, err := eval(t, "import numpy as np\n"+p.src)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		} else if numbers(got) != p.want {
			t.Errorf("%s: %s, want %s", p.name, numbers(got), p.want)
		}
	}
}
