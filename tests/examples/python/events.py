"""What happens on the simulated time line: operators of a launch, then heat of half a minute in a fanless machine."""
from collections import Counter

from orchard import Orchard

o = Orchard()
kinds, hottest = Counter(), 0


def on_event(event):
    global hottest
    kinds[event["kind_name"]] += 1
    if event["kind_name"] == "op_end":
        print({"operator": event["what"], "part": event["part"], "seconds": event["value"]["seconds"]})
    if event["what"] == "temperature":
        hottest = max(hottest, event["value"]["value"])


o.ask("run", "gemm:512x512x512", unit="gpu", chip="m2", on_event=on_event)
o.ask("run", "gemm:512x512x512", unit="gpu", chip="m2", device="macbook-air", duration=30, on_event=on_event)
print({"events": dict(kinds), "hottest_celsius": round(hottest, 1)})
