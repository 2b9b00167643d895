#!/usr/bin/env python3
"""Writes digits.onnx, a small network with weights of no meaning, and seven.png, a picture for it: python3 make.py.

Messages of ONNX are put together by the numbers of onnx.proto's fields, so that nothing but Python is needed.
"""
import struct
import zlib


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def weights(seed, count, scale):
    values, state = [], seed
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(((state >> 40) / 2**23 - 1) * scale)
    return struct.pack(f"<{count}f", *values)


def tensor(name, seed, *dims):
    count = 1
    for d in dims:
        count *= d
    fan = count // dims[0]
    return b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, weights(seed, count, fan**-0.5))


def attribute(name, value):
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)
    return field(1, name) + field(3, value) + field(20, 2)


def node(op, name, inputs, output, **attributes):
    return (b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, name) + field(4, op) +
            b"".join(field(5, attribute(k, v)) for k, v in attributes.items()))


def value(name, *dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


nodes = [
    node("Conv", "conv1", ["image", "w1", "b1"], "c1", kernel_shape=[5, 5], pads=[2, 2, 2, 2]),
    node("Relu", "relu1", ["c1"], "r1"),
    node("MaxPool", "pool1", ["r1"], "p1", kernel_shape=[2, 2], strides=[2, 2]),
    node("Conv", "conv2", ["p1", "w2", "b2"], "c2", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    node("Relu", "relu2", ["c2"], "r2"),
    node("MaxPool", "pool2", ["r2"], "p2", kernel_shape=[2, 2], strides=[2, 2]),
    node("Flatten", "flatten", ["p2"], "f", axis=1),
    node("Gemm", "classes", ["f", "w3", "b3"], "scores", transB=1),
]
constants = [tensor("w1", 1, 4, 1, 5, 5), tensor("b1", 2, 4), tensor("w2", 3, 8, 4, 3, 3), tensor("b2", 4, 8),
             tensor("w3", 5, 10, 392), tensor("b3", 6, 10)]
graph = (b"".join(field(1, n) for n in nodes) + field(2, "digits") + b"".join(field(5, c) for c in constants) +
         field(11, value("image", "batch", 1, 28, 28)) + field(12, value("scores", "batch", 10)))
model = field(1, 8) + field(2, "orchard examples") + field(7, graph) + field(8, field(2, 13))
open("digits.onnx", "wb").write(model)

rows = bytearray()
for y in range(28):
    row = [255 if (4 <= y < 7 and 6 <= x < 22) or (y >= 7 and y < 25 and abs(x - (21 - (y - 7) * 0.6)) < 2) else 0
           for x in range(28)]
    rows += b"\0" + bytes(row)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


open("seven.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)) +
                              chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))

# ---- golden outputs, computed here: networks/digits/test_data_set_0 and the output of ../gpu/scale ----


def unpack(seed, *dims):
    count = 1
    for d in dims:
        count *= d
    return list(struct.unpack(f"<{count}f", weights(seed, count, (count // dims[0])**-0.5)))


def convolve(x, channels, size, w, b, kernel):
    pad, out = kernel // 2, []
    for k in range(len(b)):
        for y in range(size):
            for z in range(size):
                total = b[k]
                for c in range(channels):
                    for i in range(kernel):
                        for j in range(kernel):
                            row, column = y + i - pad, z + j - pad
                            if 0 <= row < size and 0 <= column < size:
                                total += w[((k * channels + c) * kernel + i) * kernel + j] * x[(c * size + row) * size + column]
                out.append(max(0.0, total))
    return out


def pool(x, channels, size):
    half = size // 2
    return [max(x[(c * size + 2 * y + i) * size + 2 * z + j] for i in (0, 1) for j in (0, 1))
            for c in range(channels) for y in range(half) for z in range(half)]


def tensor_file(path, name, values, *dims):
    open(path, "wb").write(b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) +
                           field(9, struct.pack(f"<{len(values)}f", *values)))


image = list(struct.unpack("<784f", weights(7, 784, 1)))
hidden = pool(convolve(image, 1, 28, unpack(1, 4, 1, 5, 5), unpack(2, 4), 5), 4, 28)
hidden = pool(convolve(hidden, 4, 14, unpack(3, 8, 4, 3, 3), unpack(4, 8), 3), 8, 14)
matrix, bias = unpack(5, 10, 392), unpack(6, 10)
scores = [bias[k] + sum(matrix[k * 392 + i] * hidden[i] for i in range(392)) for k in range(10)]
tensor_file("../networks/digits/test_data_set_0/input_0.pb", "image", image, 1, 1, 28, 28)
tensor_file("../networks/digits/test_data_set_0/output_0.pb", "scores", scores, 1, 10)

xs = []
for i in range(1, 1025):
    z = (1 + i * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    z ^= z >> 31
    xs.append((z >> 40) / 2**23 - 1)
open("../gpu/scale/out_ys.bin", "wb").write(struct.pack("<1024f", *(2.5 * x for x in xs)))
