# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small projects that compile Metal as the large ones do: by CMake, make, a build script, setup.py and a pipe. Each is
built, run, built again with nothing to do, and again after one header was touched."""

import shutil
import sys
import textwrap
import unittest

from tools import FILL, SCALE, ToolTest

PROBE = """#include <metal_stdlib>
kernel void probe(device bfloat* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
"""


class BuildTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write(scale_metal=SCALE, fill_metal=FILL, factor_h="#define FACTOR 3\n")

    def objects(self, folder=""):
        return {path.name: path.stat().st_mtime_ns for path in (self.folder / folder).glob("*.air")}

    def check_rebuild(self, build, library, folder=""):
        """`build` makes `library`, and after factor.h changed makes scale.air and the library anew, nothing else."""
        build()
        self.assertEqual(self.kernels(library), ["fill", "scale"])
        self.assertEqual(self.run_kernel(library, "scale")[0], 3)
        first = self.objects(folder)
        self.assertEqual(set(first), {"scale.air", "fill.air"})
        build()
        self.assertEqual(self.objects(folder), first)
        self.write(factor_h="#define FACTOR 4\n")
        build()
        second = self.objects(folder)
        self.assertEqual({name for name in first if first[name] != second[name]}, {"scale.air"})
        self.assertEqual(self.run_kernel(library, "scale")[0], 4)

    def test_make(self):
        (self.folder / "Makefile").write_text(textwrap.dedent("""\
            METAL = xcrun -sdk macosx metal
            all: app.metallib
            app.metallib: scale.air fill.air
            \txcrun -sdk macosx metallib $^ -o $@
            %.air: %.metal
            \t$(METAL) -std=metal3.1 -O2 -Wall -MMD -MP -c $< -o $@
            -include scale.d fill.d
            """))
        self.check_rebuild(lambda: self.succeed("make", "-s"), "app.metallib")

    def test_cmake(self):
        if shutil.which("cmake") is None:
            self.skipTest("there is no cmake")
        (self.folder / "CMakeLists.txt").write_text(textwrap.dedent("""\
            cmake_minimum_required(VERSION 3.24)
            project(app NONE)
            find_program(XCRUN xcrun REQUIRED)
            execute_process(COMMAND ${XCRUN} -sdk macosx --show-sdk-version OUTPUT_VARIABLE sdk
                            OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
            if(sdk VERSION_LESS 14.0)
              message(FATAL_ERROR "the SDK is too old: ${sdk}")
            endif()
            execute_process(COMMAND bash -c "echo __METAL_VERSION__ | xcrun -sdk macosx metal -E -x metal -P - | tail -1"
                            OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
            file(COPY ${CMAKE_SOURCE_DIR}/probe.metal DESTINATION ${CMAKE_BINARY_DIR})
            execute_process(COMMAND ${XCRUN} metal -std=metal3.1 probe.metal WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
                            RESULT_VARIABLE can_compile)
            execute_process(COMMAND ${XCRUN} metal -std=metal4.0 -c probe.metal -o /dev/null
                            WORKING_DIRECTORY ${CMAKE_BINARY_DIR} RESULT_VARIABLE can_compile_4)
            if(NOT version EQUAL 310 OR NOT can_compile EQUAL 0 OR NOT can_compile_4 EQUAL 0)
              message(FATAL_ERROR "Metal ${version}, ${can_compile}, ${can_compile_4}")
            endif()
            foreach(name scale fill)
              add_custom_command(OUTPUT ${name}.air DEPENDS ${CMAKE_SOURCE_DIR}/${name}.metal DEPFILE ${name}.d
                COMMAND ${XCRUN} -sdk macosx metal -Wall -Wextra -fno-fast-math -c ${CMAKE_SOURCE_DIR}/${name}.metal
                        -MMD -MF ${name}.d -o ${name}.air VERBATIM)
              list(APPEND objects ${name}.air)
            endforeach()
            add_custom_command(OUTPUT app.metallib COMMAND ${XCRUN} -sdk macosx metallib ${objects} -o app.metallib
                               DEPENDS ${objects} VERBATIM)
            add_custom_target(app ALL DEPENDS app.metallib)
            """))
        self.write(probe_metal=PROBE)
        self.succeed("cmake", "-S", ".", "-B", "build", "-Wno-dev")
        self.assertTrue((self.folder / "build/default.metallib").exists())
        self.check_rebuild(lambda: self.call("cmake", "--build", "build").check_returncode(), "build/app.metallib", "build")

    def test_build_script(self):
        # As Cargo's build.rs have it: the tool's arguments as a list, a failure that shows what the tool said.
        (self.folder / "build.sh").write_text(textwrap.dedent("""\
            set -eu
            for name in scale fill; do
              if [ ! -e $name.air ] || [ $name.metal -nt $name.air ] || { [ $name = scale ] && [ factor.h -nt $name.air ]; }; then
                xcrun --sdk macosx metal -std=metal3.1 -mmacosx-version-min=14.0 -fmetal-math-mode=fast -c -o $name.air $name.metal
              fi
            done
            xcrun metal -o candle.metallib scale.air fill.air
            """))
        self.check_rebuild(lambda: self.succeed("bash", "build.sh"), "candle.metallib")
        self.write(fill_metal="nonsense")
        self.assertIn("fill.metal:1:1: error:", self.call("bash", "build.sh").stderr)

    def test_setup_py(self):
        (self.folder / "setup_metal.py").write_text(textwrap.dedent("""\
            import pathlib, shutil, subprocess, sys
            platform, sys.platform = sys.platform, "darwin"  # what such a file asks for
            assert shutil.which("xcrun")
            sdk = subprocess.check_output(["xcrun", "--sdk", "macosx", "--show-sdk-path"], text=True).strip()
            assert pathlib.Path(sdk).is_dir()
            for name, headers in (("scale", ["factor.h"]), ("fill", [])):
                source, target = pathlib.Path(name + ".metal"), pathlib.Path(name + ".air")
                newest = max(pathlib.Path(path).stat().st_mtime_ns for path in [source, *headers])
                if not target.exists() or target.stat().st_mtime_ns < newest:
                    subprocess.run(["xcrun", "-sdk", "macosx", "metal", "-O3", "-ffast-math", "-I.", "-isysroot", sdk,
                                    "-c", str(source), "-o", str(target)], check=True)
            subprocess.run(["xcrun", "-sdk", "macosx", "metallib", "scale.air", "fill.air", "-o", "ops.metallib"], check=True)
            """))
        self.check_rebuild(lambda: self.succeed(sys.executable, "setup_metal.py"), "ops.metallib")

    def test_an_edit_compiles_what_it_changed(self):
        # The store below the tools: of a source with two kernels, the one that was not edited is found.
        text = "kernel void a(device float* x) { x[0] = 1; }\nkernel void b(device float* x) { x[0] = 2; }\n"
        def log():
            result = self.call("metal", "-c", "two.metal", "-o", "two.air", SMELT_LOG="info")
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr
        self.write(two_metal=text)
        self.assertIn("compiled two.metal, 0 of 2 kernels from the store", log())
        self.assertIn("found two.metal", log())
        self.write(two_metal=text.replace("= 2", "= 3"))
        self.assertIn("compiled two.metal, 1 of 2 kernels from the store", log())

    def test_the_same_text_in_another_folder_is_found(self):
        """A compiler that writes each text to a new temporary folder compiles it once."""
        def log(folder, text, **environment):
            (self.folder / folder).mkdir(exist_ok=True)
            (self.folder / folder / "k.metal").write_text(text)
            result = self.call("metal", "-c", f"{folder}/k.metal", "-o", f"{folder}/k.air", SMELT_LOG="info", **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr

        self.assertIn("compiled one/k.metal", log("one", FILL))
        self.assertIn("found two/k.metal", log("two", FILL, SMELT_OFFLINE="1"))
        self.assertEqual((self.folder / "one/k.air").read_bytes(), (self.folder / "two/k.air").read_bytes())
        # Warnings and __FILE__ name the file.
        warns = FILL.replace("x[i] = 7", "x[i] = 7; int unused = 8")
        for text, said in ((f"#pragma clang diagnostic warning \"-Wunused-variable\"\n{warns}", "k.metal:4"), (FILL + "constant char f[] = __FILE__;\n", "")):
            for folder in ("three", "four"):
                shown = log(folder, text)
                self.assertIn(f"compiled {folder}/k.metal", shown)
                self.assertIn(f"{folder}/{said}" if said else "", shown)
        self.assertIn("three/k.metal:4", log("three", f"#pragma clang diagnostic warning \"-Wunused-variable\"\n{warns}", SMELT_OFFLINE="1"))

    def test_nothing_is_compiled_offline(self):
        (self.folder / "k.metal").write_text(FILL)
        said = self.fail_with(1, "metal", "-c", "k.metal", "-o", "k.air", SMELT_OFFLINE="1")
        self.assertIn("k.metal: not in the store, and nothing is compiled offline (SMELT_OFFLINE)", said)
        self.assertFalse((self.folder / "k.air").exists())

    def test_functions_of_other_objects(self):
        self.write(half_h="float halved(float x);\nfloat4 turned(float4 v, thread float* sum);\n",
                   half_metal='#include "half.h"\nfloat halved(float x) { return x / 2; }\n'
                              "float4 turned(float4 v, thread float* sum) { *sum = v.x + v.w; v.x = 0; return v.wzyx; }\n",
                   main_metal='#include "half.h"\nkernel void k(device float* x) {\n  float4 v = float4(1, 2, 3, 4);\n  float sum;\n'
                              "  float4 t = turned(v, &sum);\n  x[0] = halved(7);\n  x[1] = t.x * 10 + t.w;\n  x[2] = sum;\n  x[3] = v.x;\n}\n")
        self.succeed("metal", "-c", "half.metal", "main.metal", "fill.metal")
        listed = self.succeed("metal-nm", "half.air", "main.air")
        self.assertEqual(listed.count(" T "), 3, listed)
        self.assertEqual(listed.count(" U "), 2, listed)
        self.succeed("metallib", "fill.air", "main.air", "half.air", "-o", "x.metallib")
        self.assertEqual(self.kernels("x.metallib"), ["fill", "k"])
        self.assertEqual(self.run_kernel("x.metallib", "k"), (3.5, 40, 5, 1))
        said = self.fail_with(1, "metallib", "main.air", "fill.air", "-o", "y.metallib")
        self.assertEqual(said.count("undefined symbol"), 2, said)
        self.assertIn("which main.air calls", said)
        shutil.copy(self.folder / "half.air", self.folder / "again.air")
        said = self.fail_with(1, "metallib", "main.air", "half.air", "again.air", "-o", "y.metallib")
        self.assertRegex(said, r"duplicate symbol '.*': in half.air and in again.air")


if __name__ == "__main__":
    unittest.main()
