# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Mac without a compiler: what a Linux machine compiled is found in a folder or on a server and given to PyTorch; what is not is listed, compiled
there, and found then. The Mac is a process with the reader in Python alone; torch and PyObjC are recorders."""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

import pure
import smelt

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device const float* x, device float* y, constant float& a, uint i [[thread_position_in_grid]]) { y[i] = fma(a, x[i], y[i]); }
"""
# What Inductor writes for a graph, after torch.mps.compile_shader has put its headers in.
GRAPH = """
#include <metal_stdlib>
namespace c10 { namespace metal { template <typename T> inline T twice(T x) { return x + x; } } }
kernel void generated_kernel_0(device float* out_ptr0, constant float* in_ptr0, uint xindex [[thread_position_in_grid]]) {
  out_ptr0[xindex] = c10::metal::twice(in_ptr0[xindex]);
}
"""
MAC = """
import platform, subprocess, sys, types
record = []
def loader(data):
    import hashlib
    record.append(hashlib.sha256(data).hexdigest())
    return types.SimpleNamespace(saxpy="kernel saxpy", generated_kernel_0="kernel of a graph")
torch = types.ModuleType("torch")
torch.__version__ = "2.12 (a recorder)"
torch.mps = types.SimpleNamespace(load_metallib=loader, compile_shader=lambda source: torch._C._mps_compileShader(source))
torch._C = types.SimpleNamespace(_mps_loadMetalllib=loader, _mps_compileShader=lambda source: "torch's own compiler")
torch.backends = types.SimpleNamespace(mps=types.SimpleNamespace(is_available=lambda: True))
sys.modules["torch"] = torch
import urllib.request, tempfile, sqlite3, ssl
sys.platform = "darwin"
platform.mac_ver = lambda: ("15.3.1", ("", "", ""), "arm64")
import smelt
assert smelt.edition == 'reader'
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class MacTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory(prefix="smelt-mac-")
        cls.copy = pure.copy_without_modules(pathlib.Path(cls.root.name) / "mac")

    @classmethod
    def tearDownClass(cls):
        cls.root.cleanup()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.root.name))
        self.mirror = self.folder / "mirror"
        self.mirror.mkdir()
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        for name in ("SMELT_TRUST", "SMELT_TRUSTED_KEYS", "SMELT_REMOTE", "SMELT_TARGET", "SMELT_SIGNING_KEY", "SMELT_CPU_EFFORT"):
            os.environ.pop(name, None)
        os.environ.update(XDG_CONFIG_HOME=str(self.folder), SMELT_STORE=str(self.folder / "linux"))

    def served(self):
        """The mirror, by a web server."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(self.mirror)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def nginx(self):
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        if not os.path.exists(program):
            return None
        import socket

        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        place = self.folder / "nginx"
        place.mkdir()
        (place / "nginx.conf").write_text(
            f"daemon off; pid {place}/pid; error_log {place}/error.log;\nevents {{}}\n"
            f"http {{ access_log off; client_body_temp_path {place}/body; server {{ listen 127.0.0.1:{port}; root {self.mirror}; }} }}\n"
        )
        os.chmod(self.root.name, 0o755)
        for path in (self.folder, self.mirror):
            os.chmod(path, 0o755)
        server = subprocess.Popen([program, "-p", str(place), "-c", "nginx.conf", "-e", str(place / "error.log")], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for _ in range(200):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    return f"http://127.0.0.1:{port}"
        return None

    def on_mac(self, code, python=sys.executable, status=0, **environment):
        """What the code prints there: each time with a store folder of its own, unless one is given."""
        environment = {"SMELT_STORE": tempfile.mkdtemp(dir=self.folder) + "/store", **environment}
        whole = f"import sys; sys.path.insert(0, {str(self.copy)!r})\n{MAC}\n{textwrap.dedent(code)}"
        done = subprocess.run([python, "-I", "-W", "ignore", "-c", whole], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done.stdout.strip() if not status else done.stderr.strip()

    def compiled_here(self, source, **options):
        """On the Linux machine, into its store and the mirror."""
        store = smelt.Store(os.environ["SMELT_STORE"], remotes=[f"file://{self.mirror}"])
        made = smelt.compile(source, ["macos15"], cpu=False, store=store, **options)
        for _ in range(400):
            if (self.mirror / "ac" / made.key).exists():
                return made
            threading.Event().wait(0.05)
        raise AssertionError("it did not reach the mirror")

    def test_a_hit_is_given_to_torch(self):
        made = self.compiled_here(SOURCE, filename="source.metal")
        wanted = hashlib.sha256(made.metallib()).hexdigest()
        addresses = [f"file://{self.mirror}", self.served(), self.nginx()]
        code = f"lib = smelt.compile_shader({SOURCE!r}); print(lib.saxpy, *record, smelt.info(lib).target)"
        for address in filter(None, addresses):
            for python in pure.pythons():
                if pure.has_zstd(python):
                    self.assertEqual(self.on_mac(code, python, SMELT_REMOTE=address), f"kernel saxpy {wanted} macos15", (address, python))
                else:
                    self.assertIn("pip install 'smelt[store]'", self.on_mac(code, python, 1, SMELT_REMOTE=address))
        # What arrived is kept: the second process asks nobody.
        store = str(self.folder / "kept")
        self.on_mac(code, SMELT_REMOTE=f"file://{self.mirror}", SMELT_STORE=store)
        self.assertEqual(self.on_mac(code, SMELT_REMOTE="http://127.0.0.1:1", SMELT_STORE=store), f"kernel saxpy {wanted} macos15")
        # A comment is no other kernel.
        self.assertIn(wanted, self.on_mac(code.replace("#include", "// new\\n#include"), SMELT_REMOTE=f"file://{self.mirror}"))

    def test_a_hit_with_folders_of_headers(self):
        headers = self.folder / "headers"
        headers.mkdir()
        (headers / "scale.h").write_text("constant float scale = 3;\n")
        source = SOURCE.replace("#include", '#include "scale.h"\n#include', 1)
        made = self.compiled_here(source, filename="source.metal", include_folders=[str(headers)])
        call = f"lib = smelt.compile_shader({source!r}, include_folders={str(headers)!r}); print(lib.saxpy, *record)"
        wanted = hashlib.sha256(made.metallib()).hexdigest()
        self.assertEqual(self.on_mac(call, SMELT_REMOTE=f"file://{self.mirror}"), f"kernel saxpy {wanted}")
        (headers / "scale.h").write_text("constant float scale = 4;\n")
        self.assertIn("CacheMissError", self.on_mac(call, status=1, SMELT_REMOTE=f"file://{self.mirror}"))

    def test_a_package_by_name(self):
        package = smelt.compile(SOURCE, ["macos13", "macos15", "macos26"], cpu="x86-64-v3", name="attention")
        package.save(self.folder / "model.smelt")
        wanted = hashlib.sha256(package.metallib("macos15")).hexdigest()
        told = self.on_mac(f"print(smelt.open({str(self.folder / 'model.smelt')!r})['attention'].saxpy, *record)")
        self.assertEqual(told, f"kernel saxpy {wanted}")
        self.assertIn(wanted, self.on_mac(
            f"import smelt.compat.torch as compat\nprint(compat.load_metallib({str(self.folder / 'model.smelt')!r}).saxpy, *record)"))  # fmt: skip
        # A later system's slice is passed over, and a machine that is too old is told so.
        error = self.on_mac(f"platform.mac_ver = lambda: ('12.6', ('', '', ''), 'arm64')\nsmelt.open({str(self.folder / 'model.smelt')!r}).load()", status=1)
        self.assertIn("macos13: needs macOS 13.0, device has 12.6", error)

    def test_triton_and_inductor(self):
        ir = (pathlib.Path(__file__).parent / "kernels.ll").read_text()
        metadata = {"shared": 0, "num_warps": 4}
        kernel = self.compiled_here(ir, metadata=metadata)
        graph = self.compiled_here(GRAPH)
        address = f"file://{self.mirror}"
        code = f"""
            package = smelt.compile({ir!r}, ["macos15"], cpu=False, metadata={metadata!r})
            import hashlib
            print(hashlib.sha256(package.metallib()).hexdigest())
        """
        self.assertEqual(self.on_mac(code, SMELT_REMOTE=address), hashlib.sha256(kernel.metallib()).hexdigest())
        code = f"""
            from smelt.compat import inductor
            with inductor.use_store():
                print(torch.mps.compile_shader({GRAPH!r}).generated_kernel_0, *record)
                print(torch.mps.compile_shader({GRAPH + '//'!r}.replace("x + x", "x * x")))
        """
        wanted = hashlib.sha256(graph.metallib()).hexdigest()
        self.assertEqual(self.on_mac(code, SMELT_REMOTE=address), f"kernel of a graph {wanted}\ntorch's own compiler")

    def test_a_miss_is_listed_and_served_after_the_job(self):
        store = str(self.folder / "mac-store")
        calls = [f"smelt.compile_shader({SOURCE!r})", f"smelt.compile_shader({SOURCE!r}, fast_math=True)",
                 f"smelt.compile({GRAPH!r}, ['macos15', 'macos14'], cpu=False, name='graph', definitions=['A=1'], language='3.0')"]  # fmt: skip
        for call in calls:
            error = self.on_mac(call, status=1, SMELT_STORE=store, SMELT_REMOTE=f"file://{self.mirror}")
            self.assertIn("smelt compile --from misses.json", error)
            self.assertIn("CacheMissError", error)
        listed = self.folder / "misses.json"
        done = subprocess.run([sys.executable, "-m", "smelt", "misses", "-o", str(listed)], env={**os.environ, "PYTHONPATH": str(self.copy), "SMELT_STORE": store},
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 misses", done.stdout)
        told = pure.smelt_command("compile", "--from", listed, SMELT_REMOTE=f"file://{self.mirror}", SMELT_STORE=str(self.folder / "ci"))
        self.assertEqual(told, "3 compiled or found and sent, 0 not")
        for call in calls[:2]:
            self.assertEqual(self.on_mac(f"print({call}.saxpy)", SMELT_REMOTE=f"file://{self.mirror}"), "kernel saxpy")
        self.assertEqual(self.on_mac(f"print({calls[2]}.targets)", SMELT_REMOTE=f"file://{self.mirror}"), "['macos15', 'macos14']")

    def test_a_relative_store_is_one(self):
        """A relative store is in the working directory, and its notes are beside it."""
        here = self.folder / "here"
        here.mkdir()
        code = f"import os; os.chdir({str(here)!r})\nsmelt.compile_shader({SOURCE!r})"
        for name in ("store", "./store", "below/store"):
            error = self.on_mac(code, status=1, SMELT_STORE=name)
            self.assertIn("It is noted", error)
            self.assertEqual(len(list((here / f"{name}-pure/misses").iterdir())), 1)

    def test_without_a_private_folder_there_is_no_store(self):
        before = sorted(path for path in pathlib.Path("/tmp").glob(".cache*"))
        for environment in ({"HOME": "", "XDG_CACHE_HOME": ""}, {"HOME": "home", "XDG_CACHE_HOME": "cache"}):
            error = self.on_mac(f"smelt.compile_shader({SOURCE!r})", status=1, SMELT_STORE="", **environment)
            self.assertIn("It could not be noted", error)
        self.assertEqual(sorted(path for path in pathlib.Path("/tmp").glob(".cache*")), before)
        made = self.compiled_here(SOURCE, filename="source.metal")
        self.assertIsNotNone(made)
        told = self.on_mac(f"print(smelt.compile_shader({SOURCE!r}).saxpy)", SMELT_STORE="", HOME="", XDG_CACHE_HOME="", SMELT_REMOTE=f"file://{self.mirror}")
        self.assertEqual(told, "kernel saxpy")

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "SKIPPED: only root can give folders to another user")
    def test_another_users_notes_are_not_read(self):
        store = self.folder / "mine"
        (self.folder / "mine-pure" / "misses").mkdir(parents=True)
        os.chown(self.folder / "mine-pure", 65534, 65534)
        error = self.on_mac(f"smelt.compile_shader({SOURCE!r})", status=1, SMELT_STORE=str(store))
        self.assertIn("belongs to user 65534", error)

    def test_a_bomb_of_a_remote_is_a_miss(self):
        """8 KB that unpack to 250 MiB: refused before, and ended in the middle where it is allowed."""
        blocks = 2000
        size = blocks << 17
        rows = b"".join(((1 << 17) << 3 | 1 << 1 | (i == blocks - 1)).to_bytes(3, "little") + b"\0" for i in range(blocks))
        blob = b"\x28\xb5\x2f\xfd\x80\x50" + size.to_bytes(4, "little") + rows
        digest = hashlib.sha256(blob).hexdigest()
        for below in ("ac", "cas"):
            (self.folder / "bomb" / below).mkdir(parents=True)
        (self.folder / "bomb" / "cas" / digest).write_bytes(blob)
        key = "ab" * 32
        text = f"smelt-entry 1\nkey {key}\nmade-from\ncost 1\npart {size} {'0' * 64} a\nblob zstd {len(blob)} {digest}\n"
        (self.folder / "bomb" / "ac" / key).write_text(text + f"sum {hashlib.sha256(text.encode()).hexdigest()}\n")
        told = self.on_mac(f"""
            from smelt._pure import remote
            said = []
            def found():
                return remote.Remote("file://{self.folder}/bomb", said.append).find("{key}")
            assert found() is None and "more than 128 MiB" in said[-1], said
            remote.MOST_UNPACKED = 1 << 40
            clock = iter(range(0, 10000, 1))
            remote.time.monotonic = lambda: next(clock)
            assert found() is None and "takes too long" in said[-1], said
            print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) >> 10)
        """)  # fmt: skip
        self.assertLess(int(told), 200)

    def test_an_offline_compiler(self):
        """The same words for both commands: source on standard input, a Metal library on standard output."""
        words = ["compile", "-", "-o", "-", "--emit", "metallib", "--target", "macos15"]
        linux = {**os.environ, "SMELT_REMOTE": f"file://{self.mirror}"}
        mac = {**os.environ, "SMELT_REMOTE": f"file://{self.mirror}", "SMELT_STORE": str(self.folder / "other"), "PYTHONPATH": str(self.copy)}
        on_mac = [sys.executable, "-W", "ignore", "-m", "smelt", *words]
        missed = subprocess.run(on_mac, input=GRAPH.encode(), capture_output=True, env=mac)
        self.assertEqual((missed.returncode, missed.stdout), (1, b""))
        self.assertIn(b"not_cached", missed.stderr)
        made = subprocess.run([pure.COMMAND, *words], input=GRAPH.encode(), capture_output=True, env=linux)
        self.assertEqual(made.returncode, 0, made.stderr)
        found = subprocess.run(on_mac, input=GRAPH.encode(), capture_output=True, env=mac)
        self.assertEqual((found.stdout, found.stderr), (made.stdout, b""))
        self.assertEqual(found.stdout[:4], b"MTLB")

    def test_lists_that_are_wrong(self):
        facts = json.loads((self.copy / "smelt" / "_pure" / "facts.json").read_text())
        good = {"key": "11" * 32, "sources": [{"name": "a.metal", "text": SOURCE}], "options": {"targets": ["macos15"]}}
        lists = {
            "want a list": [], "'misses 2' is not": {"smelt": "misses 2", "misses": []},
            "written for the compiler": {"smelt": "misses 1", "compiler": "another", "misses": []},
        }  # fmt: skip
        entries = {
            "its key is": good, "option 'cpu' is not known": {**good, "options": {"cpu": True}}, "want a 'key'": {},
            "neither 'text' nor": {**good, "sources": [{"name": "x"}]}, "'base64' of a source": {**good, "sources": [{"base64": "A"}]},
            "another type": {**good, "options": {"name": 1}}, "target 'mac' is not known": {**good, "options": {"targets": ["mac"]}},
            "a source is not an object with a name": {**good, "sources": [{"name": 3, "text": ""}]},
        }  # fmt: skip
        for words, entry in entries.items():
            lists[words] = {"smelt": "misses 1", "compiler": facts["compiler"], "misses": [entry]}
        for words, content in lists.items():
            path = self.folder / "list.json"
            path.write_text(json.dumps(content))
            done = subprocess.run([pure.COMMAND, "compile", "--from", path], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(words, done.stderr)

    def test_trust(self):
        """Metal libraries of anybody are used, unless only signed ones are wanted; that is never passed over."""
        self.compiled_here(SOURCE, filename="source.metal")
        address = f"file://{self.mirror}"
        code = f"print(smelt.compile_shader({SOURCE!r}).saxpy)"
        self.assertEqual(self.on_mac(code, SMELT_REMOTE=address), "kernel saxpy")
        self.assertIn("CacheMissError", self.on_mac(code, status=1, SMELT_REMOTE=address, SMELT_TRUST="signed"))
        self.assertIn("want any, local or signed", self.on_mac(code, status=1, SMELT_REMOTE=address, SMELT_TRUST="sigend"))
        key = pure.smelt_command("key", "new", "ci", "-o", self.folder / "ci.key")
        shutil.rmtree(self.mirror)
        self.mirror.mkdir()
        os.environ.update(SMELT_SIGNING_KEY=str(self.folder / "ci.key"), SMELT_STORE=str(self.folder / "signing"))
        self.compiled_here(SOURCE, filename="source.metal")
        for name in ("SMELT_SIGNING_KEY",):
            os.environ.pop(name)
        strict = {"SMELT_REMOTE": address, "SMELT_TRUST": "signed"}
        self.assertEqual(self.on_mac(code, **strict, SMELT_TRUSTED_KEYS=key), "kernel saxpy")
        self.assertIn("CacheMissError", self.on_mac(code, status=1, **strict))
        other = pure.smelt_command("key", "new", "ci", "-o", self.folder / "other.key")
        self.assertIn("CacheMissError", self.on_mac(code, status=1, **strict, SMELT_TRUSTED_KEYS=other))
        # A package whose code nobody signed is refused whole, as where compiled modules read it.
        smelt.compile(SOURCE, ["macos15"]).save(self.folder / "plain.smelt")
        self.assertIn("TrustError", self.on_mac(f"smelt.open({str(self.folder / 'plain.smelt')!r}).load()", status=1, SMELT_TRUST="signed"))

    def test_servers_that_do_wrong(self):
        """Every answer of a server is a miss or what was asked for."""
        made = self.compiled_here(SOURCE, filename="source.metal")
        code = f"print(smelt.compile_shader({SOURCE!r}).saxpy)"
        record = self.mirror / "ac" / made.key
        text = record.read_text()
        for path in (self.mirror / "ac").iterdir():
            if path != record:
                path.unlink()  # by the other key it would still be found
        other = self.compiled_here(SOURCE.replace("a, x", "a + a, x"))
        records = [text[:-1], text + "\n", text.replace("part ", "part 1"), text.replace("cost ", "cost 0"), "", "smelt-entry 2\n", "\x00\xff",
                   (self.mirror / "ac" / other.key).read_text(), "x" * (2 << 20)]  # fmt: skip
        for changed in records:
            record.write_text(changed)
            self.assertIn("CacheMissError", self.on_mac(code, status=1, SMELT_REMOTE=f"file://{self.mirror}"), changed[:80])
        record.write_text(text)
        self.assertEqual(self.on_mac(code, SMELT_REMOTE=f"file://{self.mirror}"), "kernel saxpy")
        for blob in (self.mirror / "cas").iterdir():
            data = bytearray(blob.read_bytes())
            data[len(data) // 2] ^= 1
            blob.write_bytes(bytes(data))
        self.assertIn("CacheMissError", self.on_mac(code, status=1, SMELT_REMOTE=f"file://{self.mirror}"))
        for address in ("http://127.0.0.1:1", "file:///no/such/folder"):
            self.assertIn("CacheMissError", self.on_mac(code, status=1, SMELT_REMOTE=address))
        for address, words in (("redis://host", "needs the native module"), ("ftp://x", "want a URL"), ("http://h?stall=2", "want a duration"),
                               ("http://h?nope=1", "is not known"), ("https://", "want a host")):  # fmt: skip
            self.assertIn(words, self.on_mac(code, status=1, SMELT_REMOTE=address))

    def test_no_loader(self):
        package = smelt.compile(SOURCE, ["macos15"], cpu=False)
        package.save(self.folder / "one.smelt")
        load = f"smelt.open({str(self.folder / 'one.smelt')!r}).load().saxpy"
        self.assertIn("MLX compiles source alone", self.on_mac("sys.modules['torch'] = None\n" + load, status=1))
        self.assertIn("FunctionNotFoundError", self.on_mac(load.replace("saxpy", "sxapy"), status=1))
        objc = """
            metal = types.ModuleType("Metal"); foundation = types.ModuleType("Foundation")
            class Url:
                @staticmethod
                def fileURLWithPath_(path): return path
            foundation.NSURL = Url
            class Any:
                def __getattr__(self, name):
                    if name.startswith("newLibraryWithURL"):
                        return lambda path, error: (record.append(open(path, "rb").read()) or self, None)
                    if name.startswith("newComputePipelineState"):
                        return lambda function, error: (self, None)
                    if name == "maxTotalThreadsPerThreadgroup": return lambda: 1024
                    if name == "error": return lambda: None
                    if name == "as_buffer": return lambda size: b"\\1" * size
                    return lambda *words: self
            metal.MTLCreateSystemDefaultDevice = Any
            metal.MTLSizeMake = lambda *words: words
            sys.modules.update(torch=None, Metal=metal, Foundation=foundation)
            y = bytearray(4)
            KERNEL(b"abcd", y, b"efgh", threads=1)
            print(y, record[0][:4])
        """
        self.assertEqual(self.on_mac(objc.replace("KERNEL", load)), r"bytearray(b'\x01\x01\x01\x01') b'MTLB'")

    def test_selftest(self):
        """With a GPU that gives what must come out, and with one that does not."""
        stand_in = """
            class Tensor:
                def __init__(self, values): self.values = list(values)
                def cpu(self): return self
                def tolist(self): return self.values
            torch.float32 = torch.int32 = torch.float16 = "a type"
            torch.tensor = lambda values, dtype, device: Tensor(values)
            torch.mps.synchronize = lambda: None
            from smelt import _selftest, selftest
            def launch(case):
                def kernel(*buffers, threads, group_size):
                    assert (threads, group_size) == (1024, 64) and len(buffers) == len(case.buffers)
                    buffers[case.output].values[:] = selftest._signed(case.buffers[case.output][0], case.want)
                    if case.kernel == WRONG: buffers[case.output].values[3] += 1
                return kernel
            library = lambda _: types.SimpleNamespace(**{case.kernel: launch(case) for case in _selftest.cases()})
            torch.mps.load_metallib = torch.mps.compile_shader = library
            code = selftest.main(["-o", FILE])
            assert code == (1 if WRONG else 0), code
        """
        file = self.folder / "report.json"
        for wrong in (None, "mixed"):
            told = self.on_mac(stand_in.replace("WRONG", repr(wrong)).replace("FILE", repr(str(file))))
            report = json.loads(file.read_text())
            self.assertEqual(report["right"], wrong is None)
            self.assertEqual([row["kernel"] for row in report["cases"] if not row["right"]], [wrong] if wrong else [])
            self.assertEqual((report["target"], report["loader"], report["macos"]), ("macos15", "torch", "15.3.1"))
            for name in ("cold", "warm", "compile_shader_cold", "compile_shader_warm"):
                self.assertEqual(sorted(report[name]), ["first_dispatch_ms", "library_ms", "next_dispatch_ms", "pipeline_ms"])
            self.assertIn("NOT RIGHT" if wrong else "All right", told)
        self.assertIn("device_unavailable", self.on_mac("sys.modules['torch'] = None\nfrom smelt import selftest\nsys.exit(selftest.main())", status=2))

    def test_selftest_expects_what_the_kernels_compute(self):
        import array

        from smelt import _selftest

        library = smelt.compile_shader(_selftest.source())
        for case in _selftest.cases():
            try:
                import numpy

                types = {"f": numpy.float32, "I": numpy.uint32, "e": numpy.float16}
                buffers = [numpy.array(values, types[letter]) for letter, values in case.buffers]
            except ImportError:
                if any(letter == "e" for letter, _ in case.buffers):
                    continue
                buffers = [array.array(letter, values) for letter, values in case.buffers]
            getattr(library, case.kernel)(*buffers, threads=_selftest.THREADS, group_size=_selftest.GROUP)
            self.assertEqual(buffers[case.output].tolist(), case.want, case.kernel)
        self.assertEqual(smelt.open(_selftest.package()).targets, ["macos13", "macos14", "macos15", "macos26"])


if __name__ == "__main__":
    unittest.main()
