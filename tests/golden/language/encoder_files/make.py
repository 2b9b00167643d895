#!/usr/bin/env python3
"""Writes three small encoders with random weights as GGUF files (BERT, Nomic's, Jina's second), and what they make of texts:
computed here in double precision with numpy, after the definitions of the models, from the weights as the files hold them.
`make.py FOLDER` writes FOLDER/{bert,nomic-bert,jina-bert-v2}.gguf and .json beside each."""
import json, math, struct, sys
import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat", "a", "dog", "##s", "run", "##ning",
         "far", "away", ".", ",", "!", "ca", "##r", "and", "he", "##llo", "world"]
TEXTS = ["The cat sat on the mat.", "Hello, world!", "cats running far away and a zebra"]
STRING, U32, F32, BOOL, ARRAY = 8, 4, 6, 7, 9


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def value(v):
    if isinstance(v, bool):
        return struct.pack("<IB", BOOL, v)
    if isinstance(v, int):
        return struct.pack("<II", U32, v)
    if isinstance(v, float):
        return struct.pack("<If", F32, v)
    if isinstance(v, str):
        return struct.pack("<I", STRING) + text(v)
    kind = STRING if isinstance(v[0], str) else U32
    return struct.pack("<IIQ", ARRAY, kind, len(v)) + b"".join(text(x) if kind == STRING else struct.pack("<I", x) for x in v)


def q8_0(x):
    """Blocks of 32: a half, then bytes (ggml, ggml-quants.c). Returns the bytes and the values that they stand for."""
    blocks = x.reshape(-1, 32).astype(np.float32)
    scale = (np.abs(blocks).max(axis=1) / 127).astype(np.float16)
    safe = np.where(scale == 0, 1, scale).astype(np.float32)
    q = np.clip(np.round(blocks / safe[:, None]), -127, 127).astype(np.int8)
    return b"".join(s.tobytes() + r.tobytes() for s, r in zip(scale, q)), (scale.astype(np.float64)[:, None] * q).reshape(x.shape)


class Model:
    """`kind` is a type of ggml: 0 F32, 1 F16, 8 Q8_0; lists are F32 always."""

    def __init__(self, seed, kind):
        self.random, self.kind, self.tensors = np.random.RandomState(seed), kind, []

    def add(self, name, shape, scale, middle=0.0):
        x = middle + scale * self.random.standard_normal(shape)
        kind = self.kind if len(shape) == 2 else 0
        data, x = (q8_0(x) if kind == 8 else (x.astype("<f2").tobytes(), x.astype("<f2")) if kind == 1 else
                   (x.astype("<f4").tobytes(), x.astype("<f4")))
        self.tensors.append((name, shape[::-1], kind, data))
        return x.astype(np.float64)

    def save(self, path, meta):
        head, data = b"", b""
        for name, shape, kind, raw in self.tensors:
            data += b"\0" * (-len(data) % 32)
            head += text(name) + struct.pack("<I", len(shape)) + struct.pack("<%dQ" % len(shape), *shape)
            head += struct.pack("<IQ", kind, len(data))
            data += raw
        out = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(meta))
        out += b"".join(text(k) + value(v) for k, v in meta.items()) + head
        with open(path, "wb") as f:
            f.write(out + b"\0" * (-len(out) % 32) + data)


def norm(x, g, b, eps):
    d = x - x.mean(axis=-1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + eps) * g + b


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def silu(x):
    return x / (1 + np.exp(-x))


def rotate(x, base):
    """Pairs of a head that lie half of it apart, by an angle that grows with the place."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] * base ** (-np.arange(half) / half)
    low, high = x[..., :half], x[..., half:]
    return np.concatenate([low * np.cos(angle) - high * np.sin(angle), high * np.cos(angle) + low * np.sin(angle)], axis=-1)


def slopes(heads):
    n = 2 ** int(math.log2(heads))
    first = [2 ** (-8 * (h + 1) / n) for h in range(n)]
    return np.array(first + [2 ** (-4 * (2 * h + 1) / n) for h in range(heads - n)])


class Encoder:
    def __init__(self, architecture, kind, width, heads, layers, inner, eps, base=0.0):
        m = self.model = Model(len(architecture), kind)
        self.name, self.width, self.heads, self.inner, self.eps, self.base = architecture, width, heads, inner, eps, base
        bias = architecture == "bert"
        list_ = lambda name, n, scale, middle=0.0: m.add(name, (n,), scale, middle)
        pair = lambda stem, rows, columns, b: (m.add(stem + ".weight", (rows, columns), 1.2 / math.sqrt(columns)),
                                               list_(stem + ".bias", rows, 0.1) if b else 0.0)
        scale = lambda stem: (list_(stem + ".weight", width, 0.2, 1.0), list_(stem + ".bias", width, 0.1))
        self.words = m.add("token_embd.weight", (len(WORDS), width), 0.7)
        self.kinds = m.add("token_types.weight", (2, width), 0.4)
        self.places = m.add("position_embd.weight", (20, width), 0.4) if bias else None
        self.first = scale("token_embd_norm")
        self.layers = []
        for i in range(layers):
            b = "blk.%d." % i
            l = {}
            if architecture == "nomic-bert":
                qkv = pair(b + "attn_qkv", 3 * width, width, False)[0]
                l["q"], l["k"], l["v"] = [(qkv[j * width:(j + 1) * width], 0.0) for j in range(3)]
            else:
                for x in "qkv":
                    l[x] = pair(b + "attn_" + x, width, width, True)
            if architecture == "jina-bert-v2":
                l["qn"], l["kn"] = scale(b + "attn_q_norm"), scale(b + "attn_k_norm")
            l["o"] = pair(b + "attn_output", width, width, architecture != "nomic-bert")
            l["on"] = scale(b + "attn_output_norm")
            if architecture == "jina-bert-v2" and i == 0:
                l["second"] = scale(b + "attn_norm_2")
            if architecture == "jina-bert-v2" and i == 1:  # gate and other half in one matrix
                both = pair(b + "ffn_up", 2 * inner, width, False)[0]
                l["gate"], l["up"] = (both[:inner], 0.0), (both[inner:], 0.0)
            else:
                l["up"] = pair(b + "ffn_up", inner, width, bias)
                if not bias:
                    l["gate"] = pair(b + "ffn_gate", inner, width, False)
            l["down"] = pair(b + "ffn_down", width, inner, architecture != "nomic-bert")
            l["norm"] = scale(b + "layer_output_norm")
            self.layers.append(l)

    def attend(self, l, x):
        n, size = len(x), self.width // self.heads
        q, k, v = [x @ l[y][0].T + l[y][1] for y in "qkv"]
        if "qn" in l:
            q, k = norm(q, *l["qn"], self.eps), norm(k, *l["kn"], self.eps)
        q, k, v = [y.reshape(n, self.heads, size).transpose(1, 0, 2) for y in (q, k, v)]
        if self.base:
            q, k = rotate(q, self.base), rotate(k, self.base)
        s = q @ k.transpose(0, 2, 1) / math.sqrt(size)
        if self.name == "jina-bert-v2":
            at = np.arange(n)
            s = s - slopes(self.heads)[:, None, None] * np.abs(at[:, None] - at[None])
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        return (p / p.sum(axis=-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, self.width)

    def run(self, ids):
        x = self.words[ids] + self.kinds[0] + (self.places[:len(ids)] if self.places is not None else 0)
        x = norm(x, *self.first, self.eps)
        for l in self.layers:
            y = norm(self.attend(l, x) @ l["o"][0].T + l["o"][1] + x, *l["on"], self.eps)
            if "second" in l:
                y = norm(y + x, *l["second"], self.eps)
            up = y @ l["up"][0].T + l["up"][1]
            act = silu if self.name == "nomic-bert" else gelu
            up = act(y @ l["gate"][0].T) * up if "gate" in l else act(up)
            x = norm(up @ l["down"][0].T + l["down"][1] + y, *l["norm"], self.eps)
        return x


def pieces(word):
    out, at = [], 0
    while at < len(word):
        end = next((e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in WORDS), 0)
        if not end:
            return [WORDS.index("[UNK]")]
        out.append(WORDS.index(("##" if at else "") + word[at:end]))
        at = end
    return out


def encode(line):
    words, now = [], ""
    for c in line.lower() + " ":
        if c.isalnum():
            now += c
            continue
        words += ([now] if now else []) + ([c] if c != " " else [])
        now = ""
    return [WORDS.index("[CLS]")] + [t for w in words for t in pieces(w)] + [WORDS.index("[SEP]")]


def vocabulary():
    """Pieces that begin a word have U+2581 in front, those that go on have nothing (llama.cpp, convert_hf_to_gguf.py)."""
    written = [w if w[0] == "[" else w[2:] if w[:2] == "##" else "\u2581" + w for w in WORDS]
    return {"tokenizer.ggml.model": "bert", "tokenizer.ggml.pre": "default", "tokenizer.ggml.token_type_count": 2,
            "tokenizer.ggml.tokens": written, "tokenizer.ggml.token_type": [3 if w[0] == "[" else 1 for w in WORDS],
            "tokenizer.ggml.unknown_token_id": 1, "tokenizer.ggml.seperator_token_id": 3, "tokenizer.ggml.padding_token_id": 0,
            "tokenizer.ggml.cls_token_id": 2, "tokenizer.ggml.mask_token_id": 4}


def write(folder, architecture, kind, width, heads, inner, eps, pooling, base=0.0):
    layers = 2
    e = Encoder(architecture, kind, width, heads, layers, inner, eps, base)
    meta = {"general.architecture": architecture, "general.name": "random"}
    own = {"block_count": layers, "context_length": 20, "embedding_length": width, "feed_forward_length": inner,
           "attention.head_count": heads, "attention.layer_norm_epsilon": eps, "attention.causal": False, "pooling_type": pooling}
    if base:
        own["rope.freq_base"] = base
    meta.update({architecture + "." + k: v for k, v in own.items()})
    meta.update(vocabulary())
    e.model.save("%s/%s.gguf" % (folder, architecture), meta)
    cases = []
    for line in TEXTS:
        ids = encode(line)
        x = e.run(ids)
        case = {"text": line, "ids": ids, "last_hidden_state": x.tolist()}
        if pooling:
            case["sentence_embedding"] = (x[0] if pooling == 2 else x.mean(axis=0)).tolist()
        cases.append(case)
    with open("%s/%s.json" % (folder, architecture), "w") as f:
        f.write(json.dumps({"cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    out = sys.argv[1]
    write(out, "bert", 1, 24, 3, 40, float(np.float32(1e-12)), 2)
    write(out, "nomic-bert", 8, 32, 2, 64, float(np.float32(1e-12)), 1, 1000.0)
    write(out, "jina-bert-v2", 0, 24, 3, 40, float(np.float32(1e-12)), 1)
