"""What is known about a chip, how sure that is, and who says so."""
from orchard import Orchard, OrchardError

o = Orchard()
values = o.chip("m1-max")
print({key: (values[key]["text"], values[key]["unit"], values[key]["kind"], values[key]["uncertainty"], values[key]["source"])
       for key in ("gpu_cores", "gpu_max_mhz", "memory_peak_GBps")})
try:
    o.chip("m1-mxa")
except OrchardError as error:
    print({"error": str(error), "code": error.code})
