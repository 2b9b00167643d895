"""A GPU kernel of one's own: written to a file, run, its output read back."""
import array
import os
import tempfile

from orchard import Orchard

SOURCE = """
kernel void squares(global uint *out)
{
    out[get_global_id(0)] = get_global_id(0) * get_global_id(0);
}
"""

with tempfile.TemporaryDirectory() as folder:
    source, output = os.path.join(folder, "squares.cl"), os.path.join(folder, "out.npy")
    with open(source, "w") as file:
        file.write(SOURCE)
    answer = Orchard().ask("run", source, chip="m2", grid="1024", group="64", args=["out:u32:1024:" + output])
    numbers = array.array("I")
    with open(output, "rb") as file:
        numbers.frombytes(file.read()[-4096:])
    print("out[31] is", numbers[31], "after", answer["seconds"], "s")
