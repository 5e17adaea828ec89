# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two machines (stores) and one Redis: what many processes want at once is compiled once, and a holder that dies is
replaced."""

import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

from smelt_cli import SMELT, CliTest

SERVER = shutil.which("redis-server")

# Seconds of work for the CPU's code generator, so that everybody waits for it.
SLOW = """#include <metal_stdlib>
using namespace metal;
kernel void slow(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float sum = x[i];
%s  x[i] = sum;
}
"""


def source(steps):
    lines = (f"  sum += precise::sin(sum * {n}.5f) + precise::log2(sum + {n}.25f);\n" for n in range(1, steps + 1))
    return SLOW % "".join(lines)


@unittest.skipIf(SERVER is None, "SKIPPED: no redis-server")
class FleetTest(CliTest):
    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [SERVER, "--port", str(self.port), "--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.addCleanup(lambda: (server.kill(), server.wait()))
        for _ in range(200):
            if self.redis("PING") == "PONG":
                break
            time.sleep(0.02)
        else:
            self.fail("redis-server does not answer")

    def redis(self, *words):
        done = subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True)
        return done.stdout.strip()

    def start(self, machine, file, out):
        environment = {
            **os.environ,
            "SMELT_STORE": str(self.folder / machine),
            "SMELT_REMOTE": f"redis://127.0.0.1:{self.port}?timeout=30s",
            "SMELT_TRUST": "any",
            "SMELT_LOG": "info",
        }
        command = [SMELT, "compile", str(file), "-j", "1", "--cpu", "x86-64-v3", "-o", str(self.folder / out)]
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)

    def test_sixteen_processes_on_two_machines_compile_once(self):
        file = self.folder / "slow.metal"
        file.write_text(source(20))
        running = [self.start(f"machine{n % 2}", file, f"{n}.smelt") for n in range(16)]
        said = [process.communicate(timeout=300)[1] for process in running]
        self.assertEqual([process.returncode for process in running], [0] * 16, "".join(said))
        compiled = [text for text in said if "compiled " in text]
        self.assertEqual(len(compiled), 1, "".join(said))
        self.assertEqual(sum("hit " in text for text in said), 15, "".join(said))
        first = (self.folder / "0.smelt").read_bytes()
        for n in range(16):
            self.assertEqual((self.folder / f"{n}.smelt").read_bytes(), first)

    def lease(self):
        keys = self.redis("KEYS", "*:lease:*").split()
        return self.redis("GET", keys[0]) if keys else ""

    def wait_for_lease(self, other_than, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            holder = self.lease()
            if holder not in ("", other_than):
                return holder
            time.sleep(0.01)
        self.fail(f"nobody took the lease within {seconds} s")

    def test_a_killed_holder_is_replaced(self):
        file = self.folder / "slow.metal"
        file.write_text(source(60))
        first = self.start("machine0", file, "first.smelt")
        holder = self.wait_for_lease("", 60)
        second = self.start("machine1", file, "second.smelt")
        time.sleep(0.7)  # it waits by now, or comes to it while the lease runs out
        self.assertEqual(self.lease(), holder, "the holder keeps it while it compiles")
        self.assertIsNone(first.poll(), "the first has ended already: more work is needed for this test")
        first.send_signal(signal.SIGKILL)
        first.communicate()
        self.wait_for_lease(holder, 60)
        said = second.communicate(timeout=300)[1]
        self.assertEqual(second.returncode, 0, said)
        self.assertIn("compiled ", said)


if __name__ == "__main__":
    unittest.main()
