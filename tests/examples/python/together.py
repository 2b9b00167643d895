"""Two workloads at the same time: what each costs the other."""
from orchard import Orchard

both = Orchard().ask("run", "stream-triad:8M[unit=gpu] + stream-triad:8M[unit=cpu,cores=4]", chip="m1", rerun=True)
print({"seconds": both["seconds"], "slowdown": {part["unit"]: part["slowdown"] for part in both["concurrent"]}})
