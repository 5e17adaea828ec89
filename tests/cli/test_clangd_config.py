# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt clangd-config: what an editor sees of Metal source, by clangd itself, over the protocol that editors speak."""

import json
import shutil
import subprocess
import unittest

from smelt_cli import CORPUS, SOURCE, CliTest, smelt

CLANGD = shutil.which("clangd-19")

GOOD = """#include <metal_stdlib>
using namespace metal;

struct Params { float a; uint n; float4 v; };
struct Particle { packed_float3 p; half4 c; float length2() const { return p.x * p.x; } };
constant float scale [[function_constant(0)]];
constant int kSize = 4;
float first(device const float* x) { return x[0]; }
float first(threadgroup const float* x) { return x[0]; }

template <typename T>
kernel void widen(device const T* x, device float4* y, uint i [[thread_position_in_grid]]) { y[i] = 0.5 * float4(x[i]); }
template [[host_name("widen_half")]] kernel void widen<half4>(device const half4*, device float4*, uint);

[[kernel, max_total_threads_per_threadgroup(64)]]
void step(device const float4* x [[buffer(0)]], device Particle* y [[buffer(1)]], constant Params& p [[buffer(2)]],
          device atomic_uint* count [[buffer(3)]], threadgroup float* shared [[threadgroup(0)]],
          uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[32];
  const float s = max(x[i].x, 0.5);
  tile[lane] = simd_sum(s) * 1.0h;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int local[kSize];
  for (int k = 0; k < kSize; ++k) local[k] = k;
  y[i].c.xyz = half3(x[i].xyz) * half(p.a);
  y[i].p = float3(1, 2, 3) + y[i].length2();
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  simdgroup_float8x8 m;
  simdgroup_load(m, tile);
  shared[lane] = fma(p.v.w, scale, clamp(s, 0.0, 1.0)) + as_type<float>(i) + local[0] + first(shared);
}
"""


class Clangd:
    """A server for one folder."""

    def __init__(self, folder):
        self.folder, self.next = folder, 0
        # In order: clangd indexes headers behind its answers, and knows none of their names for completion until then.
        self.process = subprocess.Popen([CLANGD, "--log=error", "--sync"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            if not line and self.process.poll() is not None:
                raise AssertionError("clangd has ended")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        while (answer := self.read()).get("id") != self.next or "method" in answer:
            pass
        return answer["result"]

    def open(self, name, text):
        """What is underlined: [(line from 1, message)]."""
        self.uri = (self.folder / name).as_uri()
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": self.uri, "languageId": "cpp", "version": 1, "text": text}}})
        while (answer := self.read()).get("method") != "textDocument/publishDiagnostics" or answer["params"]["uri"] != self.uri:
            pass
        return [(one["range"]["start"]["line"] + 1, one["message"]) for one in answer["params"]["diagnostics"]]

    def complete(self, line, column):
        position = {"line": line - 1, "character": column}
        return {one["label"].split("(")[0].strip(" \u2022") for one in
                self.ask("textDocument/completion", {"textDocument": {"uri": self.uri}, "position": position})["items"]}

    def hover(self, line, column):
        position = {"line": line - 1, "character": column}
        return self.ask("textDocument/hover", {"textDocument": {"uri": self.uri}, "position": position})["contents"]["value"]

    def close(self):
        self.ask("shutdown", None)
        self.send({"method": "exit"})
        self.process.communicate(timeout=60)


class ClangdConfigTest(CliTest):
    def server(self):
        if CLANGD is None:
            self.skipTest("clangd-19 is not installed (scripts/setup)")
        server = Clangd(self.folder.resolve())
        self.addCleanup(server.close)
        return server

    def configure(self, *options):
        self.assertEqual(self.succeed("clangd-config", self.folder, *options), b"")

    def test_source_that_compiles_has_nothing_underlined(self):
        (self.folder / "good.metal").write_text(GOOD)
        self.succeed("compile", self.folder / "good.metal", "-o", self.folder / "good.metallib", "--no-store", "--no-cpu")
        self.configure()
        server = self.server()
        self.assertEqual(server.open("good.metal", GOOD), [])
        example = (SOURCE / "examples/saxpy.metal").read_text()
        self.assertEqual(server.open("saxpy.metal", example), [])

    def test_mistakes_are_underlined_where_they_are(self):
        self.configure()
        wrong = GOOD.replace("simd_sum(s)", "simd_summ(s)").replace("half(p.a)", "half(p.b)")
        found = self.server().open("wrong.metal", wrong)
        line = [i for i, text in enumerate(wrong.splitlines(), 1) if "simd_summ" in text or "p.b" in text]
        self.assertEqual([at for at, _ in found], line, found)
        self.assertIn("did you mean 'simd_sum'?", found[0][1])
        self.assertIn("member named 'b' in 'Params'", found[1][1])

    def test_completion_and_types(self):
        self.configure()
        server = self.server()
        server.open("good.metal", GOOD)
        lines = GOOD.splitlines()
        at = next(i for i, text in enumerate(lines, 1) if "simd_sum" in text)
        self.assertLessEqual({"simd_sum", "simd_max", "simd_shuffle_down"}, server.complete(at, lines[at - 1].index("simd_") + 5))
        at = next(i for i, text in enumerate(lines, 1) if "half(p.a)" in text)
        self.assertLessEqual({"a", "n", "v"}, server.complete(at, lines[at - 1].index("half(p.") + 7))
        self.assertIn("float", server.hover(at, lines[at - 1].index("half(p.") + 7))

    def test_targets_folders_and_macros(self):
        (self.folder / "shared").mkdir()
        (self.folder / "shared/common.h").write_text("inline float common(float x) { return x * FACTOR; }\n")
        text = '#include "common.h"\n#if __METAL_VERSION__ != 300 || !defined(__METAL_IOS__)\n#error\n#endif\nkernel void k(device float* x) { x[0] = common(x[0]); }\n'
        self.configure("--target", "ios16", "-I", self.folder / "shared", "-D", "FACTOR=2")
        self.assertEqual(self.server().open("k.metal", text), [])

    def test_a_large_file_of_others(self):
        path = CORPUS / "llama.rn-0.12.9/cpp/ggml-metal/ggml-metal.metal"
        if not path.exists():
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        self.configure("-I", path.parent, "-I", path.parent.parent)
        found = self.server().open("ggml-metal.metal", path.read_text())
        # A minimum of an int and, in a template, of an unsuffixed number.
        self.assertEqual([one for one in found if "'fmin' is ambiguous" not in one[1]], [])

    def test_what_is_there_already(self):
        self.configure()
        config = self.folder / ".clangd"
        first = config.read_text()
        self.configure("-D", "NEW=1")
        self.assertIn("-DNEW=1", config.read_text())
        self.assertEqual((self.folder / ".smelt/.gitignore").read_text(), "*\n")
        config.write_text("Index:\n  Background: Skip\n")
        self.assertIn("smelt did not make this file and does not change it", self.fail_with(1, "clangd-config", self.folder))
        self.assertEqual(config.read_text(), "Index:\n  Background: Skip\n")
        printed = self.succeed("clangd-config", self.folder, "--print").decode()
        self.assertEqual(printed, first.split("\n", 1)[1])
        self.assertIn("absent", self.fail_with(1, "clangd-config", self.folder / "absent"))
        self.assertIn("macos99", smelt("clangd-config", self.folder, "--target", "macos99").stderr.decode())

    def test_links_in_a_strangers_project(self):
        """Nothing is written through a link, and a file that is one is replaced, not what it leads to."""
        for place in (".smelt", ".smelt/include"):
            project, elsewhere = self.folder / f"project{len(place)}", self.folder / f"elsewhere{len(place)}"
            elsewhere.mkdir()
            (project / place).parent.mkdir(parents=True)
            (project / place).symlink_to(elsewhere)
            self.assertIn("is a link", self.fail_with(1, "clangd-config", project))
            self.assertEqual(list(elsewhere.iterdir()), [])
            self.assertFalse((project / ".clangd").exists())
        mine = self.folder / "mine"
        mine.write_text("mine")
        project = self.folder / "files"
        (project / ".smelt/include").mkdir(parents=True)
        for place in (".smelt/.gitignore", ".smelt/include/metal_stdlib"):
            (project / place).symlink_to(mine)
        self.succeed("clangd-config", project)
        self.assertEqual(mine.read_text(), "mine")

    def test_words_stay_words(self):
        """A macro or a folder with the signs of YAML in its name is one flag."""
        definition = 'A="x\\n- y: [\'"\nCompileFlags:\n  Compiler: /bin/evil'
        text = self.succeed("clangd-config", self.folder, "--print", "-D", definition).decode()
        self.assertEqual([line for line in text.splitlines() if line.strip().startswith("Compiler:")], ["  Compiler: clang++"])
        (flags,) = [line.split(":", 1)[1] for line in text.splitlines() if line.startswith("  Add:")]
        self.assertIn("-D" + definition, json.loads(flags))


if __name__ == "__main__":
    unittest.main()
