"""A client of PyTorch 1.13's NNAPI backend: networks are traced, converted and run through libneuralnetworks.so.

Prints a line per network: its name and the largest difference from PyTorch's own kernels, as a share of the
largest absolute output (networks of floats) or in steps of the output's scale (8 bits).
"""
import warnings

import torch
from torch import nn
from torch.backends._nnapi.prepare import convert_model_to_nnapi

warnings.filterwarnings("ignore")


def convolution(inputs, outputs, size, stride=1, groups=1, act=True):
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs, momentum=1.0)]
    return layers + [nn.ReLU6()] if act else layers


class Inverted(nn.Module):
    """An inverted residual block of MobileNet v2."""

    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        wide = inputs * expand
        self.adds = stride == 1 and inputs == outputs
        widen = convolution(inputs, wide, 1) if expand > 1 else []
        self.body = nn.Sequential(*widen, *convolution(wide, wide, 3, stride, wide), *convolution(wide, outputs, 1, act=False))

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


def mobilenet_v2():
    blocks, channels = [*convolution(3, 32, 3, 2)], 32
    for expand, outputs, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(count):
            blocks.append(Inverted(channels, outputs, stride if i == 0 else 1, expand))
            channels = outputs
    blocks += [*convolution(channels, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*blocks)


class Towers(nn.Module):
    """Branches, a concatenation, pools, and softmax."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(4, 8, 5, padding=2)
        self.act = nn.PReLU(16)
        self.weight, self.end = nn.Parameter(torch.full((1, 16, 8, 8), 0.5)), nn.Linear(16, 10)

    def forward(self, x):
        y = self.act(torch.cat([torch.relu(self.a(x)), torch.sigmoid(self.b(x))], 1))
        y = torch.max_pool2d(y, 2, 2) * self.weight + torch.nn.functional.avg_pool2d(y, 2, 2)
        return torch.softmax(self.end(torch.flatten(torch.nn.functional.adaptive_avg_pool2d(y, 1), 1)), 1)


class Quantized(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = torch.quantization.QuantStub(), torch.quantization.DeQuantStub()
        self.a = nn.Sequential(nn.Conv2d(4, 16, 3, padding=1), nn.ReLU())
        self.b = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.ReLU())
        self.add, self.end = nn.quantized.FloatFunctional(), nn.Linear(16, 10)

    def forward(self, x):
        y = self.a(self.quant(x))
        y = self.add.add(y, self.b(y))
        return self.dequant(self.end(torch.flatten(torch.nn.functional.adaptive_avg_pool2d(y, 1), 1)))


def quantized(x):
    torch.backends.quantized.engine = "qnnpack"
    m = Quantized().eval()
    m.qconfig = torch.quantization.get_default_qconfig("qnnpack")
    torch.quantization.fuse_modules(m, [["a.0", "a.1"], ["b.0", "b.1"]], inplace=True)
    torch.quantization.prepare(m, inplace=True)
    m(x)
    return torch.quantization.convert(m)


def compare(name, model, x, unit=None):
    x = x.contiguous(memory_format=torch.channels_last)
    x.nnapi_nhwc = True
    with torch.no_grad():
        traced = torch.jit.trace(model.eval(), x)
        want = traced(x)
        got = convert_model_to_nnapi(traced, x)(x)
    d = (got - want).abs().max().item()
    print(name, "%.3g" % (d / (unit or want.abs().max().item())), flush=True)


torch.manual_seed(1)
compare("towers", Towers(), torch.rand(1, 4, 16, 16))
x = torch.rand(1, 4, 16, 16)
q = quantized(x)
compare("quantized", q, x, q.end.scale)
m, x = mobilenet_v2(), torch.rand(1, 3, 224, 224)
with torch.no_grad():
    m(x)  # the statistics of its normalizations
compare("mobilenet_v2", m, x)
