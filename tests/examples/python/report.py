"""Run, sweep and report: dicts and lists come back, and a page is written."""
import json

import orchard

run = orchard.run("gemm:128x128x128", unit="amx", chip="m1", quiet=True)
both = orchard.run("gemm:128x128x128", unit="amx", chip="m1,m2", quiet=True)
sweep = orchard.sweep("gemm:128x128x128", ["amx.clock_ghz=2,3"], unit="amx", quiet=True)
page = open(orchard.report("page.html", run["run_id"], quiet=True)).read()
described = set(orchard.schema("run")["properties"])
print({
    "plain": json.loads(json.dumps(run)) == run and isinstance(both, list),
    "described": set(run) == described - {"profile", "sharing", "concurrent", "resources", "device_run"},
    "chips": [one["chip"] for one in both],
    "slower at 2 GHz": sweep["workloads"][0]["rows"][0]["seconds"] > sweep["workloads"][0]["rows"][1]["seconds"],
    "page": page.startswith("<!"),
})
