# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the wheels in a Python that they have modules for; wheels.sh runs it in each."""

import array
import os
import signal
import sys
import tempfile
import threading
import time

import smelt

SOURCE = """
#include <metal_stdlib>
using namespace metal;
constant float factor [[function_constant(0)]];
struct Pair { float a; int b; };
kernel void saxpy(device const float* x, device float* y, constant float& a, uint i [[thread_position_in_grid]]) { y[i] = fma(a, x[i], y[i]); }
kernel void scaled(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= factor; }
kernel void paired(device float* x, constant Pair& p, uint i [[thread_position_in_grid]]) { x[i] = p.a + p.b; }
kernel void stray(device float* x, constant uint& at, uint i [[thread_position_in_grid]]) { x[at] = 1; }
kernel void spin(device uint* x, constant uint& rounds, uint i [[thread_position_in_grid]]) {
  uint state = i;
  for (uint k = 0; k < rounds; ++k) state = state * 1664525u + (state >> 13);
  x[i % 64] = state;
}
[[visible]] float doubled(float x) { return x * 2; }
[[visible]] float negated(float x) { return -x; }
kernel void through(device float* x, visible_function_table<float(float)> table, uint i [[thread_position_in_grid]]) {
  x[i] = is_null_visible_function_table(table) ? 7 : table[i % table.size()](x[i]);
}
kernel void scale(texture2d<float> from, sampler by, constant float& gain, texture2d<float, access::write> to,
                  uint2 at [[thread_position_in_grid]]) {
  to.write(gain * from.sample(by, (float2(at) + 0.5f) / float2(to.get_width(), to.get_height())), at);
}
"""


def expect(kind, words, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert words in str(error), (words, str(error))
    else:
        raise AssertionError(f"no {kind.__name__}")


def main():
    assert smelt.edition == "native" and smelt.Device().kind == "cpu"
    library = smelt.compile_shader(SOURCE)
    x, y = array.array("f", range(10)), array.array("f", [1] * 10)
    library.saxpy(x, y, 2.0)
    assert y.tolist() == [2 * i + 1 for i in range(10)], y
    library.saxpy(y=y, x=x, a=1)
    assert y.tolist() == [3 * i + 1 for i in range(10)], y
    smelt.specialize(library, "scaled", {"factor": 0.5})(x)
    assert x.tolist() == [i / 2 for i in range(10)], x
    library.paired(x, array.array("f", [0.5]).tobytes() + array.array("i", [2]).tobytes(), threads=3)
    assert x.tolist()[:3] == [2.5] * 3, x
    image, into = (memoryview(bytearray(data)).cast("B", [1, width, 1]) for data, width in ((b"\0\x64\xc8\xc8", 4), (b"\0\0", 2)))
    library.scale(image, smelt.Sampler(filter="linear"), 0.5, into)
    assert into.tolist() == [[[25], [100]]], into.tolist()
    library.scale(smelt.Texture(image, mipmaps=True), smelt.Sampler("address::repeat"), gain=1, to=into)
    assert into.tolist() == [[[100], [200]]], into.tolist()
    numbers = array.array("f", [1, 2, 3])
    library.through(numbers, ["doubled", "negated"])
    assert numbers.tolist() == [2, -2, 6], numbers
    library.through(numbers, table=None)
    assert numbers.tolist() == [7, 7, 7], numbers
    expect(smelt.Error, "calls entry 1 of a function table", library.through, numbers, ["doubled", None])
    expect(smelt.Error, "a table has visible functions", library.through, numbers, ["through"])
    expect(smelt.FunctionNotFoundError, "halved", library.through, numbers, ("halved",))
    expect(smelt.ArgumentError, "want a list of their names", library.through, numbers, numbers)
    expect(smelt.ArgumentError, "want names of visible functions", library.through, numbers, [2])
    expect(smelt.ArgumentError, "read-only", library.scale, image, smelt.Sampler(), 1, into.toreadonly())
    expect(smelt.ArgumentError, "want a smelt.Sampler", library.scale, image, "linear", 1, into)
    expect(smelt.ArgumentError, "read-only", library.saxpy, x, b"\0" * 40, 2.0)
    expect(smelt.ArgumentError, "want an array", library.saxpy, x, y, "2")
    expect(smelt.FunctionNotFoundError, "saxpy", getattr, library, "sax")
    expect(SyntaxError, "source.metal:1:", smelt.compile_shader, "kernel void f( {}")
    expect(smelt.Error, "factor", getattr, library, "scaled")
    checked = smelt.compile_shader(SOURCE, checked=True)
    expect(smelt.BoundsError, "stray", checked.stray, array.array("f", [0]), 100_000, threads=1)

    package = smelt.compile(SOURCE, targets="macos14", definitions={"UNUSED": 1}, name="kernels", version="1.2")
    assert package.targets[0] == "macos14" and package.libraries == ["kernels"] and package.version("kernels") == "1.2", package
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernels.smelt")
        package.save(path)
        y = array.array("f", [1] * 10)
        opened = smelt.open(path)
        opened["kernels"].saxpy(y, y, 1.0)
        assert y.tolist() == [2] * 10
        info = smelt.info(opened["kernels"])
        assert info.name == "kernels" and "saxpy" in info.functions and info.target.startswith("cpu-"), info
        assert smelt.function_info(opened["kernels"], "saxpy").usable
        metallib = package.metallib("macos14")
        smelt.load_metallib(metallib).saxpy(y, y, 1.0)  # its CPU code is made here
        assert y.tolist() == [4] * 10
        expect(smelt.TrustError, "", smelt.load_metallib, path, trust="signed")
        expect(smelt.IntegrityError, "digest", smelt.load_metallib, path, expect="00" * 32)

    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        library.spin(array.array("I", [0] * 64), 100_000, threads=64 * 100_000, group_size=64)
    except KeyboardInterrupt:
        assert time.monotonic() - start < 60
    else:
        raise AssertionError("Ctrl-C did not end the launch")
    library.spin(array.array("I", [0] * 64), 10, threads=64, group_size=64)

    rounds = 2000
    start = time.perf_counter()
    for _ in range(rounds):
        library.saxpy(y, y, 1.0)
    took = (time.perf_counter() - start) / rounds * 1e6
    print(f"Python {sys.version.split()[0]}, {took:.1f} us a launch")


main()
