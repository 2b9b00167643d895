"""liborchard from Python: ctypes over the installed library, nothing to build.

    import orchard
    print(orchard.run("gemm:256x256x256", unit="amx", chip="m1")["seconds"])
    rows = orchard.sweep("gemm:256x256x256", ["gpu_cores=8,10"], unit="gpu")["workloads"][0]["rows"]
    orchard.report("run.html")

Whatever a verb of the command line can do, `Orchard().ask(VERB, *words, **options)` can. What the keys of documents mean is in
`orchard.schema("run")`.

Options are keyword arguments: `power_mode="low"` is the option power-mode, `cold=True` a switch, `set=["a=1", "b=2"]` a
repeated option. What has a document comes back as dicts and lists, anything else (isa table, db export) as text.
"""
import ctypes as c
import json
import os

NOTE, WARNING = 0, 1
Texts = c.POINTER(c.c_char_p)


class Error(c.Structure):
    _fields_ = [("code", c.c_int), ("text", c.c_char * 512), ("words", c.c_bool)]


class Quantity(c.Structure):
    _fields_ = [("name", c.c_char_p), ("unit", c.c_char_p), ("value", c.c_double)]


class Text(c.Structure):
    _fields_ = [("name", c.c_char_p), ("text", c.c_char_p)]


class Event(c.Structure):
    _fields_ = [("kind", c.c_int), ("kind_name", c.c_char_p), ("run", c.c_uint64), ("seconds", c.c_double),
                ("what", c.c_char_p), ("part", c.c_char_p), ("instance", c.c_uint),
                ("text", c.POINTER(Text)), ("texts", c.c_size_t), ("value", c.POINTER(Quantity)), ("values", c.c_size_t)]


class Value(c.Structure):
    _fields_ = [("key", c.c_char_p), ("unit", c.c_char_p), ("description", c.c_char_p), ("kind", c.c_char_p),
                ("source", c.c_char_p), ("origin", c.c_char_p), ("note", c.c_char_p), ("known", c.c_bool),
                ("number", c.c_double), ("uncertainty", c.c_double), ("text", c.c_char_p),
                ("list", c.POINTER(c.c_double)), ("list_count", c.c_size_t)]


OnRemark = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_char_p)
OnEvent = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Event))


class Session(c.Structure):
    _fields_ = [("options", Texts), ("text", c.c_void_p), ("program_output", c.c_void_p), ("color", c.c_bool),
                ("dashes", c.c_bool), ("program", c.c_char_p), ("revision", c.c_char_p), ("context", c.c_void_p),
                ("remark", OnRemark), ("event", OnEvent), ("progress", c.c_void_p)]


class OrchardError(Exception):
    """code: 2 wrong use or input, 3 not modelled, 4 the simulated program faulted, 70 internal."""

    def __init__(self, error):
        super().__init__(error.text.decode())
        self.code = error.code


def _texts(words):
    return (c.c_char_p * (len(words) + 1))(*[w.encode() for w in words], None)


def _options(options):
    for name, value in options.items():
        name = name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                yield name
            elif one is not None and one is not False:
                yield f"{name}={one}"


def _plain(structure):
    """The fields of a structure as a dict, texts decoded."""
    texts = ((name, getattr(structure, name)) for name, *_ in structure._fields_)
    return {name: v.decode() if isinstance(v, bytes) else v for name, v in texts}


def _event(event):
    plain = _plain(event)
    plain["text"] = {t.name.decode(): t.text and t.text.decode() for t in event.text[: event.texts]}
    plain["value"] = {q.name.decode(): q.value for q in event.value[: event.values]}
    return plain


class Orchard:
    def __init__(self, library=None):
        lib = self.lib = c.CDLL(library or os.environ.get("ORCHARD_LIBRARY", "liborchard.so.0"))
        lib.orchard_ask.argtypes = [c.POINTER(Session), c.c_char_p, Texts, Texts, c.POINTER(c.c_void_p), c.POINTER(Error)]
        lib.orchard_chips_open.restype = lib.orchard_chip_open.restype = c.c_void_p
        lib.orchard_chip_open.argtypes = [c.c_void_p, c.c_char_p, Texts, c.POINTER(Error)]
        lib.orchard_chip_value_at.argtypes = [c.c_void_p, c.c_size_t, c.POINTER(Value)]
        lib.orchard_chip_value_at.restype = c.c_bool
        for name in ("chip_close", "chips_close", "answer_free", "answer_json", "answer_output"):
            getattr(lib, f"orchard_{name}").argtypes = [c.c_void_p]
        lib.orchard_answer_json.restype = lib.orchard_answer_output.restype = lib.orchard_version.restype = c.c_char_p

    def version(self):
        return self.lib.orchard_version().decode()

    def ask(self, verb, *words, on_event=None, on_remark=None, **options):
        """What `orchard VERB WORDS --OPTIONS` answers."""
        session, answer, error = Session(), c.c_void_p(), Error()
        if on_event:
            session.event = OnEvent(lambda _, event: on_event(_event(event.contents)))
        if on_remark:
            session.remark = OnRemark(lambda _, kind, text: on_remark(kind, text.decode()))
        code = self.lib.orchard_ask(session, verb.encode(), _texts(words), _texts(list(_options(options))), answer, error)
        try:
            if code > 1:
                raise OrchardError(error)
            document = self.lib.orchard_answer_json(answer)
            return json.loads(document) if document else self.lib.orchard_answer_output(answer).decode()
        finally:
            self.lib.orchard_answer_free(answer)

    def run(self, workload, **options):
        """The document of a run as a dict; of several chips or units, a list of them."""
        return self.ask("run", workload, **options)

    def sweep(self, workload, lists, **options):
        """The document of a sweep: `lists` says what varies, ["gpu_cores=8,10", "chip=m1,m2"]."""
        return self.ask("sweep", workload, list=list(lists), **options)

    def report(self, path, *runs, **options):
        """Writes a page about recorded runs (numbers; none = the newest) and returns its path."""
        self.ask("report", *[str(run) for run in runs], output=path, **options)
        return path

    def schema(self, document):
        """What the keys of a document mean, as a JSON schema."""
        return self.ask("schema", document)

    def chip(self, name, sets=()):
        """The values of a chip by key, each with unit, kind, source and uncertainty."""
        error, value, values = Error(), Value(), {}
        chips = self.lib.orchard_chips_open(error)
        chip = self.lib.orchard_chip_open(chips, name.encode(), _texts(list(sets)), error) if chips else None
        if not chip:
            self.lib.orchard_chips_close(chips)
            raise OrchardError(error)
        index = 0
        while self.lib.orchard_chip_value_at(chip, index, value):
            plain = _plain(value)
            plain["list"] = value.list[: value.list_count] if value.list else []
            values[plain.pop("key")] = plain
            index += 1
        self.lib.orchard_chip_close(chip)
        self.lib.orchard_chips_close(chips)
        return values


_default = None


def _library():
    global _default
    _default = _default or Orchard()
    return _default


def run(workload, **options):
    """As Orchard.run, with the library of the system."""
    return _library().run(workload, **options)


def sweep(workload, lists, **options):
    """As Orchard.sweep."""
    return _library().sweep(workload, lists, **options)


def report(path, *runs, **options):
    """As Orchard.report."""
    return _library().report(path, *runs, **options)


def schema(document):
    """As Orchard.schema."""
    return _library().schema(document)
