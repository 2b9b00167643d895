#!/usr/bin/env python3
"""Writes three small encoders with random weights, as transformers and sentence-transformers save them, and what they make of
texts: computed here in double precision from the definitions of BERT, DistilBERT and RoBERTa, with nothing but Python's own
library. `make.py FOLDER` writes FOLDER/{bert,distilbert,roberta}."""
import json, math, os, random, struct, sys

WIDTH, HEADS, LAYERS, INNER = 24, 3, 2, 40
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat", "a", "dog", "##s", "run", "##ning",
         "far", "away", ".", ",", "!", "ca", "##r", "and", "he", "##llo", "world"]
TEXTS = ["The cat sat on the mat.", "Hello, world!", "cats running far away and a zebra"]


def half(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def brain(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


TYPES = {"F32": (single, lambda x: struct.pack("<f", x)), "F16": (half, lambda x: struct.pack("<e", x)),
         "BF16": (brain, lambda x: struct.pack("<f", x)[2:])}


class Weights:
    def __init__(self, seed, dtype):
        self.random, self.dtype, self.tensors = random.Random(seed), dtype, {}

    def add(self, name, shape, scale, middle=0.0):
        count = math.prod(shape)
        values = [TYPES[self.dtype][0](middle + self.random.gauss(0, scale)) for _ in range(count)]
        self.tensors[name] = (shape, values)
        return values if len(shape) == 1 else [values[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]

    def save(self, path):
        header, data = {"__metadata__": {"format": "pt"}}, b""
        for name, (shape, values) in self.tensors.items():
            bytes_ = b"".join(TYPES[self.dtype][1](v) for v in values)
            header[name] = {"dtype": self.dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
            data += bytes_
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text + data)


def linear(x, w, b):
    return [[sum(a * c for a, c in zip(row, line)) + o for line, o in zip(w, b)] for row in x]


def norm(x, g, b, eps):
    out = []
    for row in x:
        mean = sum(row) / len(row)
        var = sum((v - mean) ** 2 for v in row) / len(row)
        out.append([(v - mean) / math.sqrt(var + eps) * s + o for v, s, o in zip(row, g, b)])
    return out


def add(x, y):
    return [[a + b for a, b in zip(r, s)] for r, s in zip(x, y)]


def attend(q, k, v):
    size, out = WIDTH // HEADS, [[] for _ in q]
    for h in range(HEADS):
        at = slice(h * size, (h + 1) * size)
        for i, row in enumerate(q):
            scores = [sum(a * b for a, b in zip(row[at], other[at])) / math.sqrt(size) for other in k]
            most = max(scores)
            power = [math.exp(s - most) for s in scores]
            out[i] += [sum(p * line[at][j] for p, line in zip(power, v)) / sum(power) for j in range(size)]
    return out


ACTIVATIONS = {"gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))), "relu": lambda x: max(x, 0.0),
               "gelu_new": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))}
BERT = ["encoder.layer.%d.attention.self.query", "encoder.layer.%d.attention.self.key", "encoder.layer.%d.attention.self.value",
        "encoder.layer.%d.attention.output.dense", "encoder.layer.%d.attention.output.LayerNorm",
        "encoder.layer.%d.intermediate.dense", "encoder.layer.%d.output.dense", "encoder.layer.%d.output.LayerNorm"]
DISTIL = ["transformer.layer.%d.attention.q_lin", "transformer.layer.%d.attention.k_lin", "transformer.layer.%d.attention.v_lin",
          "transformer.layer.%d.attention.out_lin", "transformer.layer.%d.sa_layer_norm", "transformer.layer.%d.ffn.lin1",
          "transformer.layer.%d.ffn.lin2", "transformer.layer.%d.output_layer_norm"]


class Model:
    def __init__(self, seed, dtype, prefix, names, vocabulary, places, kinds, ends, act, eps, first=0, pooler=False):
        w = self.weights = Weights(seed, dtype)
        self.act, self.eps, self.first = act, eps, first
        self.words = w.add(prefix + "embeddings.word_embeddings.weight", (vocabulary, WIDTH), 0.7)
        self.places = w.add(prefix + "embeddings.position_embeddings.weight", (places, WIDTH), 0.4)
        self.kinds = w.add(prefix + "embeddings.token_type_embeddings.weight", (kinds, WIDTH), 0.4) if kinds else None
        pair = lambda stem, rows, columns: (w.add(prefix + stem + ".weight", (rows, columns), 1.2 / math.sqrt(columns)),
                                            w.add(prefix + stem + ".bias", (rows,), 0.1))
        scale = lambda stem: (w.add(prefix + stem + ends[0], (WIDTH,), 0.2, 1.0), w.add(prefix + stem + ends[1], (WIDTH,), 0.1))
        self.norm = scale("embeddings.LayerNorm")
        self.layers = []
        for i in range(LAYERS):
            n = [name % i for name in names]
            self.layers.append([pair(n[0], WIDTH, WIDTH), pair(n[1], WIDTH, WIDTH), pair(n[2], WIDTH, WIDTH),
                                pair(n[3], WIDTH, WIDTH), scale(n[4]), pair(n[5], INNER, WIDTH), pair(n[6], WIDTH, INNER),
                                scale(n[7])])
        self.pooler = pair("pooler.dense", WIDTH, WIDTH) if pooler else None

    def run(self, ids):
        x = [[a + p + (self.kinds[0][j] if self.kinds else 0) for j, (a, p) in
              enumerate(zip(self.words[t], self.places[self.first + i]))] for i, t in enumerate(ids)]
        x = norm(x, *self.norm, self.eps)
        for q, k, v, o, first, up, down, last in self.layers:
            x = norm(add(x, linear(attend(linear(x, *q), linear(x, *k), linear(x, *v)), *o)), *first, self.eps)
            inner = [[ACTIVATIONS[self.act](u) for u in row] for row in linear(x, *up)]
            x = norm(add(x, linear(inner, *down)), *last, self.eps)
        return x


def pieces(word):
    out, at = [], 0
    while at < len(word):
        for end in range(len(word), at, -1):
            piece = ("##" if at else "") + word[at:end]
            if piece in WORDS:
                break
        else:
            return [WORDS.index("[UNK]")]
        out.append(WORDS.index(piece))
        at = end
    return out


def word_pieces(text):
    words, now = [], ""
    for c in text.lower() + " ":
        if c.isalnum():
            now += c
            continue
        words += [now] if now else []
        words += [c] if c != " " else []
        now = ""
    return [WORDS.index("[CLS]")] + [t for w in words for t in pieces(w)] + [WORDS.index("[SEP]")]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text if isinstance(text, str) else json.dumps(text, indent=1) + "\n")


def golden(folder, model, encode, pool, unit):
    cases = []
    for text in TEXTS:
        ids = encode(text)
        x = model.run(ids)
        row = x[0] if pool == "first" else [sum(c) / len(x) for c in zip(*x)]
        length = math.sqrt(sum(v * v for v in row))
        case = {"text": text, "ids": ids, "last_hidden_state": x, "sentence_embedding": [v / length for v in row] if unit else row}
        if model.pooler:
            case["pooler_output"] = [math.tanh(v) for v in linear([x[0]], *model.pooler)[0]]
        cases.append(case)
    write(folder + "/golden.json", {"cases": cases})


def plain(model_type, **more):
    return {"architectures": ["x"], "model_type": model_type, "vocab_size": len(WORDS), "max_position_embeddings": 20, **more}


def main(out):
    sizes = {"num_hidden_layers": LAYERS, "hidden_size": WIDTH, "num_attention_heads": HEADS, "intermediate_size": INNER}
    # Names of the first generation, a vocab.txt, a pooler.
    m = Model(1, "F32", "bert.", BERT, len(WORDS), 20, 2, (".gamma", ".beta"), "gelu", 1e-12, pooler=True)
    write(out + "/bert/config.json", plain("bert", hidden_act="gelu", layer_norm_eps=1e-12, type_vocab_size=2, pad_token_id=0, **sizes))
    write(out + "/bert/vocab.txt", "\n".join(WORDS) + "\n")
    m.weights.save(out + "/bert/model.safetensors")
    golden(out + "/bert", m, word_pieces, "mean", False)
    # Halves, a tokenizer.json of WordPiece.
    m = Model(2, "F16", "distilbert.", DISTIL, len(WORDS), 20, 0, (".weight", ".bias"), "gelu", 1e-12)
    write(out + "/distilbert/config.json", plain("distilbert", n_layers=LAYERS, dim=WIDTH, n_heads=HEADS, hidden_dim=INNER,
                                                 activation="gelu"))
    special = [{"id": i, "content": WORDS[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                "special": True} for i in range(5)]
    frame = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    write(out + "/distilbert/tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": frame, "pair": frame,
                           "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                                              "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {w: i for i, w in enumerate(WORDS)}}})
    m.weights.save(out + "/distilbert/model.safetensors")
    golden(out + "/distilbert", m, word_pieces, "mean", False)
    # bfloat16, byte-level BPE with one merge that no text here has, places behind the number of the filler; sentence-transformers' first token, of length 1.
    letters = [chr(c) for c in list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))]
    known = [ord(c) for c in letters]
    extra = iter(range(256, 512))
    of_byte = {b: chr(b) if b in known else chr(next(extra)) for b in range(256)}
    tokens = ["<s>", "<pad>", "</s>", "<unk>"] + [of_byte[b] for b in range(256)] + ["zz"]
    m = Model(3, "BF16", "", BERT, len(tokens), 60, 1, (".weight", ".bias"), "gelu_new", 1e-5, first=2)
    write(out + "/roberta/config.json", {**plain("roberta", hidden_act="gelu_new", layer_norm_eps=1e-5, type_vocab_size=1,
                                                 pad_token_id=1, bos_token_id=0, eos_token_id=2, **sizes),
                                         "vocab_size": len(tokens), "max_position_embeddings": 60})
    write(out + "/roberta/tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": tokens[i], "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": True, "special": True} for i in range(4)],
        "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
                           "add_prefix_space": False},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
                  "fuse_unk": False, "byte_fallback": False, "vocab": {t: i for i, t in enumerate(tokens)}, "merges": ["z z"]}})
    write(out + "/roberta/1_Pooling/config.json", {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": True,
                                                   "pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False})
    write(out + "/roberta/modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])
    m.weights.save(out + "/roberta/model.safetensors")
    golden(out + "/roberta", m, lambda t: [0] + [4 + b for b in t.encode()] + [2], "first", True)


main(sys.argv[1])
