"""One workload on one chip: how long, how much energy, and what it waits for."""
from orchard import Orchard

run = Orchard().ask("run", "gemm:256x256x256", unit="amx", chip="m1")
print({
    "seconds": run["seconds"],
    "interval": (run["seconds_low"], run["seconds_high"]),
    "joules": run["joules"],
    "joules_by": run["joules_by"],
    "stalls": {reason: share for reason, share in run["stalls"].items() if share > 0.01},
})
