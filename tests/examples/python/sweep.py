"""The same product on two chips, with more and fewer GPU cores than they have."""
from orchard import Orchard

sweep = Orchard().ask("sweep", "gemm:256x256x256", list=["chip=m1,m2", "gpu_cores=4,8,16"], unit="gpu", exact=True, quiet=True)
print({(row["settings"]["chip"], row["settings"]["gpu_cores"]): row["seconds"] for row in sweep["workloads"][0]["rows"]})
