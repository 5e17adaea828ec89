# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program that ends while daemon threads are in the middle of something ends quietly; forks meanwhile wait for nobody."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

BEGIN = """
import os, sys, threading, time
import smelt

def forever(work):
    def run():
        i = 0
        while True:
            i += 1
            work(i)
    for _ in range(3):
        threading.Thread(target=run, daemon=True).start()
"""

SOURCE = '''
SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void spin(device float* x, constant int& n, uint i [[thread_position_in_grid]]) {
  for (int k = 0; k < n; ++k) x[i] = fma(x[i], 0.5f, 1.0f);
}
"""
'''

LAUNCH = """
kernel = smelt.compile_shader(SOURCE).spin
data = [bytearray(4096) for _ in range(8)]
forever(lambda i: kernel(memoryview(data[i % 8]).cast('f'), 200000))
"""

PUT = """
store = smelt.Store(os.environ["SMELT_STORE"])
forever(lambda i: store.put("%064x" % (i % 1000), {"a": b"x" * (i % 5000), "b": os.urandom(3000)}))
"""

COMPILE = """
forever(lambda i: smelt.compile_shader(SOURCE.replace("0.5f", "0.%df" % (i + int(time.time() * 1e6)))))
"""

LOAD = """
smelt.compile_shader(SOURCE)
forever(lambda i: smelt.compile_shader(SOURCE))
"""

FORK = PUT + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of what is tried here
time.sleep(0.3)
slow = failed = 0
for round in range(30):
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            store.put("%064x" % (10**6 + round), {"a": b"child"})
            os._exit(0 if store.get("%064x" % (10**6 + round))["a"] == b"child" else 1)
        except BaseException as error:
            print(error, file=sys.stderr)
        os._exit(2)
    failed += os.waitpid(child, 0)[1] != 0
    slow += time.monotonic() - began > 5
assert not failed and not slow, (failed, slow)
"""


class ExitTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-exit-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, code, times=4):
        environment = {**os.environ, "SMELT_STORE": str(self.folder / "store")}
        for name in ("SMELT_REMOTE", "SMELT_OFFLINE"):
            environment.pop(name, None)
        for _ in range(times):
            done = subprocess.run([sys.executable, "-c", BEGIN + SOURCE + textwrap.dedent(code)], env=environment,
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_in_a_launch(self):
        self.run_program(LAUNCH + "time.sleep(0.3)")

    def test_in_a_put(self):
        self.run_program(PUT + "time.sleep(0.3)")

    def test_in_a_compile(self):
        self.run_program(COMPILE + "time.sleep(0.5)")

    def test_in_a_compile_that_the_store_has(self):
        self.run_program(LOAD + "time.sleep(0.3)")

    @unittest.skipUnless(hasattr(os, "fork"), "SKIPPED: no fork")
    def test_forked_while_threads_put(self):
        self.run_program(FORK, times=1)


if __name__ == "__main__":
    unittest.main()
