# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""metal, metallib, xcrun and their kin, word by word."""

import bz2
import io
import os
import pathlib
import re
import shutil
import struct
import sys
import tarfile
import unittest

from tools import FILL, SCALE, SMELT, ToolTest


class XcrunTest(ToolTest):
    def test_it_says_where_things_are(self):
        self.assertEqual(self.succeed("xcrun", "-sdk", "macosx", "-find", "metal"), f"{self.bin}/metal\n")
        self.assertEqual(self.succeed("xcrun", "-f", "metallib"), f"{self.bin}/metallib\n")
        path = self.succeed("xcrun", "--sdk", "iphoneos", "--show-sdk-path").strip()
        self.assertTrue(os.path.isdir(path) and path.endswith("iPhoneOS17.0.sdk"), path)
        self.assertEqual(self.succeed("xcrun", "--sdk", "macosx", "--show-sdk-version"), "14.0\n")
        self.assertEqual(self.succeed("xcrun", "--show-sdk-version", SMELT_SDK_VERSION="15.2"), "15.2\n")
        self.assertEqual(self.succeed("xcrun", "-log", "metal", "-dumpmachine", stderr=f"{self.bin}/metal -dumpmachine\n"),
                         "air64-apple-macosx14.0.0\n")

    def test_what_is_not_there(self):
        self.assertEqual(self.fail_with(72, "xcrun", "-find", "no-such-tool"),
                         'xcrun: error: unable to find utility "no-such-tool", not a developer tool or in PATH\n')
        for sdk, why in (("watchos", "watchOS has no Metal"), ("xros", "visionOS is not a target"), ("driverkit", "DriverKit"),
                         ("xrsimulator", "visionOS is not a target"), ("dreamcast", "macosx, iphoneos, appletvos, iphonesimulator and appletvsimulator")):
            said = self.fail_with(1, "xcrun", "-sdk", sdk, "metal", "-v")
            self.assertIn(f'SDK "{sdk}" cannot be located: ', said)
            self.assertIn(why, said)
        self.assertIn("usage", self.fail_with(64, "xcrun"))

    def test_other_programs_are_found_on_path(self):
        self.assertEqual(self.succeed("xcrun", "-sdk", "macosx", "echo", "a b", "-sdk"), "a b -sdk\n")

    def test_the_sdk_says_the_platform(self):
        self.assertEqual(self.succeed("xcrun", "-sdk", "iphoneos", "metal", "-dumpmachine"), "air64-apple-ios17.0.0\n")
        self.assertEqual(self.succeed("metal", "-dumpmachine", SDKROOT="/x/iPhoneOS17.4.sdk"), "air64-apple-ios17.0.0\n")
        self.assertEqual(self.succeed("xcrun", "-sdk", "appletvos", "metal", "-dumpmachine"), "air64-apple-tvos17.0.0\n")
        self.assertTrue(self.succeed("xcrun", "--sdk", "appletvos", "--show-sdk-path").endswith("/SDKs/AppleTVOS17.0.sdk\n"))
        self.assertEqual(self.succeed("xcrun", "-sdk", "iphonesimulator", "metal", "-dumpmachine"), "air64-apple-ios17.0.0-simulator\n")
        self.assertTrue(self.succeed("xcrun", "--sdk", "appletvsimulator", "--show-sdk-path").endswith("/SDKs/AppleTVSimulator17.0.sdk\n"))
        # iOS's language is that of tvOS and of the simulators.
        self.assertEqual(self.succeed("xcrun", "-sdk", "appletvsimulator", "metal", "-std=ios-metal2.1", "-dumpmachine"),
                         "air64-apple-tvos17.0.0-simulator\n")
        self.assertEqual(self.succeed("xcrun", "-sdk", "macosx", "metal", "-std=ios-metal2.1", "-dumpmachine"), "air64-apple-ios17.0.0\n")


class TargetTest(ToolTest):
    def test_every_way_to_say_it(self):
        for words, triple in ((("-mmacosx-version-min=15.1",), "macosx15.1.0"), (("-mios-version-min=16",), "ios16.0.0"),
                              (("-target", "air64-apple-macosx13.0.0"), "macosx13.0.0"),
                              (("-target", "air64_v26-apple-ios17.2"), "ios17.2.0"), (("-std=ios-metal2.4",), "ios17.0.0"),
                              (("-std=metal3.2",), "macosx15.0.0"), (("-mtvos-version-min=15",), "tvos15.0.0"),
                              (("-mappletvos-version-min=18.1",), "tvos18.1.0"), (("-target", "air64-apple-tvos16.0"), "tvos16.0.0"),
                              (("-target", "air64-apple-tvos26.0"), "tvos26.0.0"), (("-isysroot", "/s/AppleTVOS.sdk"), "tvos17.0.0"),
                              (("-isysroot", "/s/iPhoneOS.sdk"), "ios17.0.0"), (("-std=macos-metal1.2",), "macosx14.0.0"),
                              (("-std=ios-metal1.0",), "ios17.0.0"), (("-miphonesimulator-version-min=16.4",), "ios16.4.0-simulator"),
                              (("-mtvos-simulator-version-min=17.0",), "tvos17.0.0-simulator"),
                              (("-target", "air64-apple-ios18.0-simulator"), "ios18.0.0-simulator"),
                              (("-target", "air64_v28-apple-tvos26.0.0-simulator"), "tvos26.0.0-simulator"),
                              (("-isysroot", "/s/iPhoneSimulator17.2.sdk"), "ios17.0.0-simulator")):
            self.assertEqual(self.succeed("metal", *words, "-dumpmachine").strip().split("-apple-")[1], triple, words)
        self.assertIn("macosx12.0.0", self.succeed("metal", "-dumpmachine", MACOSX_DEPLOYMENT_TARGET="12.0"))
        # The SDK that is claimed is what is compiled for, unless something says a version.
        claimed = {"SMELT_SDK_VERSION": "26.2"}
        for words, triple in ((("metal",), "air64_v28-apple-macosx26.2.0"), (("xcrun", "-sdk", "macosx", "metal"), "air64_v28-apple-macosx26.2.0"),
                              (("xcrun", "-sdk", "iphoneos", "metal"), "air64_v28-apple-ios26.2.0"),
                              (("metal", "-std=metal3.2"), "air64_v28-apple-macosx26.2.0"), (("metal", "-std=metal4.1"), "air64_v29-apple-macosx27.0.0"),
                              (("metal", "-mmacosx-version-min=13.0"), "air64-apple-macosx13.0.0")):  # fmt: skip
            self.assertEqual(self.succeed(*words, "-dumpmachine", **claimed), triple + "\n", words)
        self.assertEqual(self.succeed("metal", "-dumpmachine", MACOSX_DEPLOYMENT_TARGET="12.0", **claimed), "air64-apple-macosx12.0.0\n")
        self.assertTrue(os.path.isdir(self.succeed("xcrun", "-sdk", "macosx", "--show-sdk-path", **claimed).strip()))
        self.assertIn("SMELT_SDK_VERSION: target 'macos18' is not known", self.fail_with(1, "metal", "-dumpmachine", SMELT_SDK_VERSION="18.0"))
        self.assertIn("tvos18.0.0", self.succeed("xcrun", "-sdk", "appletvos", "metal", "-dumpmachine", TVOS_DEPLOYMENT_TARGET="18.0"))

    def test_the_library_has_it(self):
        self.write(fill_metal=FILL)
        self.succeed("metal", "-std=macos-metal2.3", "-mmacosx-version-min=13.0", "fill.metal", "-o", "f.metallib")
        said = self.succeed(SMELT, "inspect", "f.metallib")
        self.assertIn("os 13.0.0", said)
        self.assertIn("Metal 2.3", said)
        tv = ("#include <TargetConditionals.h>\n#if !TARGET_OS_TV || TARGET_OS_IOS || !defined(__METAL_IOS__)\n#error which\n#endif\n"
              "kernel void f(device int* x) { x[0] = 1; }\n")
        self.write(tv_metal=tv)
        self.succeed("xcrun", "-sdk", "appletvos", "metal", "-mtvos-version-min=18.2", "-c", "tv.metal", "-o", "tv.air")
        self.succeed("xcrun", "-sdk", "appletvos", "metallib", "tv.air", "-o", "tv.metallib")
        said = self.succeed(SMELT, "inspect", "tv.metallib")
        for fact in ("slice tvos18", "container 1.2.7", "os 18.2.0", "AIR 2.7, Metal 3.2"):
            self.assertIn(fact, said)
        self.succeed(SMELT, "verify", "tv.metallib")
        with open(f"{self.folder}/tv.metallib", "rb") as file:
            self.assertEqual(file.read()[4:12], bytes([1, 0, 2, 0, 7, 0, 0, 0x83]))
        self.succeed("metal-objdump", "--metallib", "tv.metallib")
        said = self.call("metal", "-mmacosx-version-min=10.15", "fill.metal", "-o", "f.metallib")
        self.assertEqual((said.returncode, said.stderr.count("warning: macOS 10.15 is older")), (0, 1), said.stderr)

    def test_a_simulator_is_in_the_code_and_the_library(self):
        self.write(s_metal="#include <TargetConditionals.h>\n#if !TARGET_OS_SIMULATOR || !TARGET_OS_IOS || !defined(__METAL_IOS__)\n#error which\n#endif\n" + FILL,
                   m_metal="#include <TargetConditionals.h>\n#if TARGET_OS_SIMULATOR\n#error which\n#endif\n" + FILL)
        self.succeed("xcrun", "-sdk", "iphonesimulator", "metal", "-mios-simulator-version-min=16.0", "-c", "s.metal")
        self.succeed("xcrun", "-sdk", "iphonesimulator", "metallib", "s.air", "-o", "s.metallib")
        said = self.succeed(SMELT, "inspect", "s.metallib")
        self.assertIn("slice ios16-simulator", said)
        self.assertEqual((self.folder / "s.metallib").read_bytes()[4:12], bytes([1, 0, 2, 0, 7, 0, 0, 0x87]))
        self.assertEqual(self.kernels("s.metallib"), ["fill"])
        self.assertEqual(self.run_kernel("s.metallib", "fill"), (7,) * 4)
        # A library of a simulator is linked for it again, and not among those of the device.
        self.succeed("metallib", "s.metallib", "-o", "again.metallib")
        self.assertEqual((self.folder / "again.metallib").read_bytes(), (self.folder / "s.metallib").read_bytes())
        self.succeed("metal", "-mios-version-min=16.0", "-c", "m.metal")
        self.assertIn("s.air is for the simulator of iOS, and m.air is for iOS", self.fail_with(1, "metallib", "s.air", "m.air", "-o", "x.metallib"))
        self.write(fill_metal=FILL)
        self.succeed("metal", "-target", "air64-apple-tvos16.0-simulator", "-c", "fill.metal")
        self.succeed("air-lld", "-platform_version", "tvos-simulator", "16.0", "16.0", "fill.air", "-o", "tv.metallib")
        self.assertEqual((self.folder / "tv.metallib").read_bytes()[11], 0x88)

    def test_a_file_of_nothing(self):
        self.write(empty_metal="", blank_metal=" \n")
        for source in ("empty.metal", "blank.metal"):
            self.succeed("metal", "-c", source, "-o", "none.air")
            said = self.call(SMELT, "compile", source, "--no-cpu", "-o", "none.metallib")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn("the library is empty", said.stderr)

    def test_ir_says_its_system(self):
        ir = ('target triple = "{}"\ndefine void @k(ptr addrspace(1) %o) {{\n  store i32 1, ptr addrspace(1) %o\n  ret void\n}}\n'
              "!air.kernel = !{{!0}}\n!0 = !{{ptr @k, !1, !2}}\n!1 = !{{}}\n!2 = !{{!3}}\n"
              '!3 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, '
              '!"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"o"}}\n')
        for triple, facts in (("air64-apple-macosx15.0.0", ("os 15.0.0", "AIR 2.7")), ("air64_v29-apple-macosx27.0.0", ("os 27.0.0", "AIR 2.9")),
                              ("air64-apple-ios17.4.0", ("os 17.4.0", "AIR 2.6"))):  # fmt: skip
            with self.subTest(triple=triple):
                self.write(k_ll=ir.format(triple))
                self.succeed("metal", "-x", "ir", "-c", "k.ll", "-o", "k.air")
                self.succeed("metallib", "k.air", "-o", "k.metallib")
                self.succeed("metal", "k.ll", "-o", "whole.metallib")
                self.succeed(SMELT, "compile", "k.ll", "--no-cpu", "-o", "k2.metallib")
                for library in ("k.metallib", "whole.metallib", "k2.metallib"):
                    said = self.succeed(SMELT, "inspect", library)
                    for fact in facts:
                        self.assertIn(fact, said, library)
                # What the command line says counts more.
                self.succeed("metal", "-target", "air64-apple-macosx26.0.0", "k.ll", "-o", "asked.metallib")
                self.assertIn("os 26.0.0", self.succeed(SMELT, "inspect", "asked.metallib"))

    def test_more_threadgroup_memory_than_there_is(self):
        """A library has the kernel; no pipeline can be made of it."""
        text = ("#include <metal_stdlib>\nusing namespace metal;\nkernel void {0}(device float* y, uint l [[thread_index_in_threadgroup]]) {{\n"
                "  threadgroup float t[{1}]; t[l] = l; threadgroup_barrier(mem_flags::mem_threadgroup); y[l] = t[{1} - 1 - l]; }}\n")
        self.write(a_metal=text.format("a", 24576), ab_metal=text.format("a", 24576) + text.format("b", 12288).split("metal;\n")[1])
        for source, kernels in (("a.metal", ["a"]), ("ab.metal", ["a", "b"])):
            said = self.call("metal", "-c", source, "-o", "k.air")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn("kernel 'a' needs 98304 bytes of threadgroup memory; Apple GPUs have 32768 per threadgroup", said.stderr)
            self.assertEqual(self.call("metallib", "k.air", "-o", "k.metallib").returncode, 0)
            self.assertEqual(self.kernels("k.metallib"), kernels)
            said = self.call(SMELT, "run", "k.metallib", "a", "--threads", 4, "f32[4]")
            self.assertNotEqual(said.returncode, 0)
            self.assertIn("needs 98304 bytes of threadgroup memory; Apple GPUs have 32768", said.stderr)

    def test_old_languages(self):
        """The lines of SDL, wgpu, SPIRV-Cross and Flutter."""
        self.write(k_metal="#if __METAL_VERSION__ != WANTED\n#error which\n#endif\n" + FILL)
        old = "metal: warning: {0} is older than any that smelt supports; the result is for {1}\n"
        for word, number in (("macos-metal1.0", 100), ("macos-metal1.1", 110), ("osx-metal1.2", 120), ("ios-metal1.1", 110)):
            self.succeed("metal", f"-std={word}", f"-DWANTED={number}", "-c", "k.metal")
            self.assertIn(f"!{{!\"Metal\", i32 1, i32 {number // 10 % 10}, i32 0}}", self.succeed("metal-objdump", "-d", "k.air"))
        self.succeed("metal", "-std=macos-metal1.0", "-mmacosx-version-min=10.11", "-Werror=constant-conversion", "-DWANTED=100", "-x", "metal",
                     "k.metal", "-o", "/dev/null", stderr=old.format("macOS 10.11", "macOS 12.0"))
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))
        self.succeed("xcrun", "-sdk", "iphonesimulator", "metal", "-miphonesimulator-version-min=11.0", "-std=ios-metal2.1", "-DWANTED=210", "-o", "k.metallib",
                     "k.metal", stderr=old.format("iOS 11.0", "iOS 15.0"))
        self.assertEqual(self.kernels("k.metallib"), ["fill"])

    def test_the_machine_that_swiftpm_runs_on(self):
        self.write(k_metal=FILL)
        self.succeed("metal", "-c", "-target", "air64-unknown-linux-gnu", "-serialize-diagnostics", "k.dia", "-o", "k.air", "k.metal",
                     stderr="metal: warning: target triple 'air64-unknown-linux-gnu' names no system with Metal; the result is for macOS 14.0\n")
        self.assertEqual((self.folder / "k.dia").read_bytes()[:4], b"DIAG")
        self.assertIn("macosx14.0.0", self.succeed("metal", "-target", "air64-unknown-linux-gnu", "-dumpmachine"))

    def test_what_cannot_be(self):
        for words, message in ((("-std=c++17",), "invalid value 'c++17' in '-std=c++17'"),
                               (("-std=metal4.0", "-mmacosx-version-min=14.0"), "'-std=metal4.0' needs macOS 26"),
                               (("-target", "air64-apple-macosx14.0-simulator"), "macOS has no simulator"),
                               (("-std=macos-metal1.3",), "use metal1.0 to metal1.2"),
                               (("-ferror-limit=some",), "invalid integral value 'some' in '-ferror-limit=some'"),
                               (("-target", "air64-apple-ios17.0-macabi"), "Mac Catalyst is not a target"),
                               (("-target", "air64-apple-watchos10.0"), "watchOS has no Metal"),
                               (("-target", "air64-apple-xros1.0"), "visionOS is not a target"),
                               (("-target", "air64-apple-bridgeos1.0"), "only macOS, iOS, tvOS"),
                               (("-mwatchos-version-min=10",), "watchOS has no Metal"),
                               (("-target", "x86_64-linux"), "unknown target triple"),
                               (("-arch", "applegpu_g13"), "binaries of one GPU"),
                               (("-mxros-version-min=1",), "visionOS"), (("-fcikernel",), "Core Image"),
                               (("-fast-mth",), "unknown argument")):
            self.assertIn(message, self.fail_with(1, "metal", *words, "x.metal"), words)


class MetalTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write(scale_metal=SCALE, fill_metal=FILL, factor_h="#define FACTOR 3\n")

    def test_compile_link_and_run(self):
        self.succeed("xcrun", "-sdk", "macosx", "metal", "-c", "scale.metal", "-o", "scale.air")
        self.succeed("xcrun", "-sdk", "macosx", "metal", "-c", "fill.metal", "-o", "fill.air")
        self.succeed("xcrun", "-sdk", "macosx", "metallib", "scale.air", "fill.air", "-o", "both.metallib")
        self.assertEqual(self.kernels("both.metallib"), ["fill", "scale"])
        self.assertEqual(self.run_kernel("both.metallib", "scale"), (3,) * 4)
        self.assertEqual(self.run_kernel("both.metallib", "fill"), (7,) * 4)
        # The same in one go, by its default name, and out of a library and an object.
        self.succeed("metal", "scale.metal", "fill.metal")
        self.assertEqual((self.folder / "default.metallib").read_bytes(), (self.folder / "both.metallib").read_bytes())
        self.succeed("metal", "fill.metal", "-o", "fill.metallib")
        self.succeed("air-lld", "-arch", "air64", "scale.air", "fill.metallib", "-o", "mixed.metallib")
        self.assertEqual(self.kernels("mixed.metallib"), ["fill", "scale"])

    @unittest.skipUnless(sys.platform == "linux", "SKIPPED: there are children on Linux alone")
    def test_libraries_are_linked_in_children(self):
        self.succeed("metal", "fill.metal", "-o", "fill.metallib")
        made = []
        for mode in ("auto", "never"):
            self.succeed("metallib", "fill.metallib", "-o", f"{mode}.metallib", SMELT_SANDBOX=mode,
                         SMELT_STORE=str(self.folder / mode))
            made.append((self.folder / f"{mode}.metallib").read_bytes())
        self.assertEqual(made[0], made[1])
        (self.folder / "alone").mkdir()
        alone = shutil.copy(SMELT, self.folder / "alone/smelt")  # without what the children are
        compiler = pathlib.Path(SMELT).resolve().parent / "../lib/smelt/libsmelt-aot.so"
        if compiler.exists():
            shutil.copy(compiler, self.folder / "alone")
        result = self.call(alone, "toolchain-tool", "metallib", "fill.metallib", "-o", "here.metallib",
                           SMELT_STORE=str(self.folder / "other"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("compiling without a child process", result.stderr)
        self.assertEqual((self.folder / "here.metallib").read_bytes(), made[0])

    def test_the_object_is_bitcode_of_the_whole_unit(self):
        self.write(two_metal=FILL + "constant int n [[function_constant(1)]];\n"
                   "kernel void more(device float* x) { x[0] = n; }\nkernel void last(device float* x) { x[1] = 2; }\n")
        self.succeed("metal", "-c", "two.metal", "-o", "two.air")
        self.assertEqual((self.folder / "two.air").read_bytes()[:4], b"\xde\xc0\x17\x0b")
        self.assertEqual(self.succeed("metal-nm", "two.air"),
                         "---------------- T fill\n---------------- T more\n---------------- T last\n")
        text = self.succeed("metal", "-S", "-emit-llvm", "two.metal", "-o", "-")
        self.assertEqual(len(re.findall(r"^define void @", text, re.M)), 3)
        self.assertEqual(len(re.findall(r"^!air.kernel = !\{!\d+, !\d+, !\d+\}$", text, re.M)), 1)
        self.succeed("metallib", "two.air", "-o", "two.metallib")
        said = self.succeed(SMELT, "inspect", "two.metallib")
        self.assertEqual(said.count("constant 1"), 1, said)  # of the one kernel that reads it
        # Nine entries and more are cut in several pieces.
        many = "".join(f"kernel void k{i}(device float* x) {{ threadgroup float t[4]; t[0] = {i}; x[0] = t[0]; }}\n" for i in range(9))
        self.write(many_metal=many)
        self.succeed("metal", "many.metal", "-o", "many.metallib")
        self.assertEqual(self.kernels("many.metallib"), [f"k{i}" for i in range(9)])
        self.assertEqual(self.run_kernel("many.metallib", "k8")[0], 8)

    def test_pipe(self):
        pipe = "xcrun -sdk macosx metal -O3 -c fill.metal -o - | xcrun -sdk macosx metallib - -o default.metallib"
        self.succeed("bash", "-euo", "pipefail", "-c", pipe)
        self.assertEqual(self.kernels("default.metallib"), ["fill"])
        self.succeed("metal", "-c", "-x", "metal", "-", "-o", "s.air", stdin=FILL)
        self.assertIn("T fill", self.succeed("metal-nm", "s.air"))

    def test_preprocessor(self):
        self.assertEqual(self.succeed("metal", "-E", "-x", "metal", "-P", "-", stdin="__METAL_VERSION__\n").strip(), "310")
        self.assertEqual(self.succeed("metal", "-std=metal3.2", "-E", "-x", "metal", "-P", "-", stdin="__METAL_VERSION__\n").strip(), "320")
        macros = self.succeed("metal", "-E", "-dM", "-x", "metal", "-", "-DMINE=4", stdin="")
        for line in ("#define MINE 4", "#define __METAL_VERSION__ 310", "#define __METAL__ 1"):
            self.assertIn(line, macros.splitlines())
        self.assertIn("x[i] += 3;", self.succeed("metal", "-E", "scale.metal"))
        self.assertIn("<stdin>:1:10: error: 'no.h' file not found", self.fail_with(1, "metal", "-E", "-x", "metal", "-", stdin='#include "no.h"\n'))
        # As scripts ask that put a source and its headers into one text.
        (self.folder / "outer.h").write_text('#include "inner.h"\n#define TWICE(x) (2 * x) // of a macro\n')
        (self.folder / "inner.h").write_text("// of inner.h\n")
        source = '#include <metal_stdlib>\n#include "outer.h"\n#include "inner.h"\nint a = TWICE(1); // of the source\n'
        for word, macros_too in (("-C", False), ("-CC", True)):
            found = self.call("metal", "-x", "metal", "-E", "-P", word, "-H", "-w", "-", stdin=source)
            headers = [line.split(" ") for line in found.stderr.splitlines()]
            self.assertEqual([found.returncode, [(dots, os.path.basename(path)) for dots, path in headers]],
                             [0, [(".", "outer.h"), ("..", "inner.h"), (".", "inner.h")]])
            self.assertIn("// of inner.h", found.stdout)
            self.assertIn("// of the source", found.stdout)
            self.assertEqual("of a macro" in found.stdout, macros_too)
        self.assertIn("warning: -H has an effect only with -E", self.call("metal", "-H", "-c", "fill.metal").stderr)
        # The last word about a name counts.
        for words, value in ((("-DA=1", "-UA"), "A"), (("-UA", "-DA=1"), "1"), (("-DA=1", "-D", "A=2"), "2"), (("-U__METAL__", "-DA=__METAL__"), "__METAL__")):
            self.assertEqual(self.succeed("metal", *words, "-E", "-P", "-x", "metal", "-", stdin="A\n").strip(), value)

    def test_macros_of_the_system(self):
        """Godot asks for them; the second line is what it reads."""
        for words, macro, number in (((), "MAC_OS_X", 140000), (("-mmacosx-version-min=15.1",), "MAC_OS_X", 150100),
                                     (("-mios-version-min=17.2",), "IPHONE_OS", 170200), (("-mtvos-version-min=18",), "TV_OS", 180000),
                                     (("-mios-simulator-version-min=17.2",), "IPHONE_OS", 170200)):
            macros = self.succeed("metal", *words, "-E", "-dM", "-x", "metal", "-", stdin="\n").splitlines()
            self.assertIn(f"#define __ENVIRONMENT_{macro}_VERSION_MIN_REQUIRED__ {number}", macros)
            self.assertIn(f"#define __ENVIRONMENT_OS_VERSION_MIN_REQUIRED__ {number}", macros)
            self.assertEqual(sum("_VERSION_MIN_REQUIRED__" in line for line in macros), 2)
        # In code too, and -D and -U have the last word.
        self.write(os_metal="kernel void k(device float* x) { x[0] = __ENVIRONMENT_OS_VERSION_MIN_REQUIRED__; }\n")
        for words, number in (((), 140000), (("-mmacosx-version-min=13.0",), 130000), (("-D__ENVIRONMENT_OS_VERSION_MIN_REQUIRED__=7",), 7)):
            self.succeed("metal", *words, "os.metal", "-o", "os.metallib")
            self.assertEqual(self.run_kernel("os.metallib", "k")[0], number)
        self.assertIn("undeclared", self.fail_with(1, "metal", "-U__ENVIRONMENT_OS_VERSION_MIN_REQUIRED__", "-c", "os.metal"))

    def test_include_options(self):
        system = self.folder / "sys"
        system.mkdir()
        (system / "noisy.h").write_text("#warning noise\n#define FACTOR 5\n")
        self.write(k_metal='#include <noisy.h>\nkernel void k(device float* x) { x[0] = FACTOR; }\n')
        self.succeed("metal", "-isystem", "sys", "k.metal", "-o", "k.metallib")
        self.assertEqual(self.run_kernel("k.metallib", "k")[0], 5)
        self.assertIn("noise", self.call("metal", "-Isys", "k.metal", "-o", "k.metallib").stderr)
        self.write(bare_metal="kernel void k(device float* x) { x[0] = FACTOR; }\n")
        self.succeed("metal", "-include", "factor.h", "bare.metal", "-o", "k.metallib")
        self.assertEqual(self.run_kernel("k.metallib", "k")[0], 3)
        self.write(factor_h="#define FACTOR 4\n")
        self.succeed("metal", "-include", "factor.h", "bare.metal", "-o", "k.metallib")
        self.assertEqual(self.run_kernel("k.metallib", "k")[0], 4)

    def test_working_directory(self):
        """As a Cargo build script calls it: sources by their whole paths, objects where the option says."""
        self.write(fill_metal=FILL)
        out = self.folder / "out"
        out.mkdir()
        whole = str(self.folder / "fill.metal")
        for option in ([f"-working-directory={out}"], ["-working-directory", str(out)]):
            self.succeed("metal", *option, "-c", whole, "-MMD")
            self.assertEqual({path.name for path in out.iterdir()}, {"fill.air", "fill.d"})
            for path in out.iterdir():
                path.unlink()
        self.succeed("metal", "-working-directory", str(out), "-c", "../fill.metal", "-o", "named.air")
        self.assertTrue((out / "named.air").exists())
        said = self.call("metal", "-working-directory=nowhere", "-c", whole)
        self.assertEqual(said.returncode, 1)
        self.assertIn("unable to set working directory: nowhere", said.stderr)

    def test_folders_for_quotes_alone(self):
        for folder, number in (("quote", 5), ("angle", 6)):
            (self.folder / folder).mkdir()
            (self.folder / folder / "n.h").write_text(f"#define N {number}\n")
        self.write(q_metal='#include "n.h"\nkernel void k(device float* x) { x[0] = N; }\n',
                   a_metal="#include <n.h>\nkernel void k(device float* x) { x[0] = N; }\n")
        for words, source, number in ((("-Iangle", "-iquote", "quote"), "q.metal", 5), (("-iquote", "quote", "-Iangle"), "a.metal", 6)):
            self.succeed("metal", *words, source, "-o", "k.metallib")
            self.assertEqual(self.run_kernel("k.metallib", "k")[0], number)
        self.assertIn("'n.h' file not found", self.fail_with(1, "metal", "-iquote", "quote", "-c", "a.metal"))
        # Rules and the store look where the compiler looks: the other file changes nothing, its own does.
        self.assertEqual(self.succeed("metal", "-MM", "-Iangle", "-iquote", "quote", "q.metal"), "q.air: \\\n  q.metal \\\n  quote/n.h\n")
        self.assertEqual(self.succeed("metal", "-MM", "-Iangle", "-iquote", "quote", "a.metal"), "a.air: \\\n  a.metal \\\n  angle/n.h\n")
        self.write(n_h="#define N 8\n")
        self.succeed("metal", "-Iangle", "-iquote", "quote", "a.metal", "-o", "k.metallib")
        self.assertEqual(self.run_kernel("k.metallib", "k")[0], 6)  # beside the source is for quotes
        (self.folder / "angle/n.h").write_text("#define N 9\n")
        self.succeed("metal", "-Iangle", "-iquote", "quote", "a.metal", "-o", "k.metallib")
        self.assertEqual(self.run_kernel("k.metallib", "k")[0], 9)
        self.succeed("metal", "-Iangle", "-iquote", "quote", "q.metal", "-o", "k.metallib")
        self.assertEqual(self.run_kernel("k.metallib", "k")[0], 8)

    def test_response_files(self):
        self.write(args_rsp='-c "fill.metal"\n-o out.air @more.rsp\n', more_rsp="-DX='a b'")
        self.succeed("metal", "@args.rsp")
        self.assertIn("T fill", self.succeed("metal-nm", "out.air"))
        self.write(self_rsp="@self.rsp")
        self.assertIn("response files", self.fail_with(1, "metal", "@self.rsp"))

    def test_math(self):
        self.write(k_metal="#include <metal_stdlib>\n"
                           "kernel void k(device float* x) { x[0] = metal::exp(x[1]) + x[2] / x[3]; x[4] = metal::isnan(x[5]); }\n")

        def made(*words):
            """Flags of the addition, the variant of exp, and what is stamped."""
            text = self.succeed("metal", *words, "-S", "k.metal", "-o", "-")
            flags = re.search(r"fadd ((?:[a-z]+ )*)float", text)[1].split()
            return flags, "air.fast_exp" in text, re.search(r"air.compile.fast_math_(\w+)", text)[1]

        fast = (["fast"], True, "enable")
        relaxed = (["reassoc", "nsz", "arcp", "contract", "afn"], True, "disable")
        safe = (["contract"], False, "disable")
        for words, wanted in (
            ((), fast), (("-fno-fast-math", "-ffast-math"), fast), (("-fmetal-math-mode=fast",), fast),
            (("-Ofast", "-O3"), fast), (("-fno-fast-math", "-Ofast"), fast),
            (("-fmetal-math-mode=relaxed",), relaxed), (("-ffast-math", "-fmetal-math-mode=relaxed"), relaxed),
            (("-fno-fast-math",), safe), (("-fmetal-math-mode=safe",), safe), (("-O2", "-fno-fast-math", "-O0", "-Os", "-Og", "-O3"), safe),
            (("-fmetal-math-fp32-functions=precise",), (fast[0], False, "enable")),
            (("-fmetal-math-fp32-functions=precise", "-fmetal-math-mode=relaxed"), (relaxed[0], False, "disable")),
            (("-fmetal-math-mode=safe", "-fmetal-math-fp32-functions=fast"), (safe[0], True, "disable")),
        ):
            self.assertEqual(made(*words), wanted, words)
        self.assertIn("invalid value 'quick'", self.fail_with(1, "metal", "-fmetal-math-mode=quick", "k.metal"))
        self.assertIn("invalid value 'exact'", self.fail_with(1, "metal", "-fmetal-math-fp32-functions=exact", "k.metal"))
        self.assertIn("invalid value 'best' in '-Obest'", self.fail_with(1, "metal", "-Obest", "k.metal"))
        for level, said in (("-O4", "-O4 is equivalent to -O3 [-Wdeprecated]"), ("-O9", "optimization level '-O9' is not supported; using '-O3' instead"),
                            ("-O99999999999", "optimization level '-O99999999999' is not supported; using '-O3' instead")):
            self.succeed("metal", level, "-c", "k.metal", stderr=f"metal: warning: {said}\n")

    def test_infinities_and_nans_are_honoured_in_relaxed_mode(self):
        self.write(k_metal="#include <metal_stdlib>\nusing namespace metal;\n"
                           "kernel void k(device float* x) { x[0] = isnan(x[3] / x[3]); x[1] = isinf(1 / x[3]); x[2] = isfinite(x[3]); }\n")
        self.succeed("metal", "-fmetal-math-mode=relaxed", "k.metal", "-o", "k.metallib")
        self.assertEqual(self.run_kernel("k.metallib", "k"), (1, 1, 1, 0))

    def test_outputs_replace_a_link_and_leave_what_it_leads_to(self):
        self.write(scale_metal=SCALE, factor_h="#define FACTOR 3\n")
        victim = self.folder / "victim"
        names = [self.folder / name for name in ("x.dep", "x.air", "x.dia", "x.metallib")]
        for dangling in (False, True):
            victim.write_text("precious")
            for name in names:
                name.unlink(missing_ok=True)
                name.symlink_to(self.folder / "nothing-here" if dangling else victim)
            self.succeed("metal", "-MD", "-MF", "x.dep", "-serialize-diagnostics", "x.dia", "-c", "scale.metal", "-o", "x.air")
            self.succeed("metallib", "x.air", "-o", "x.metallib")
            self.assertEqual(victim.read_text(), "precious")
            self.assertEqual([name for name in names if name.is_symlink()], [])
        self.assertFalse((self.folder / "nothing-here").exists())

    def test_rules_for_make(self):
        self.succeed("metal", "-MMD", "-c", "scale.metal", "-o", "scale.air")
        self.assertEqual((self.folder / "scale.d").read_text(), "scale.air: \\\n  scale.metal \\\n  factor.h\n")
        self.succeed("metal", "-MD", "-MF", "x.dep", "-MT", "a b", "-MQ", "c d", "-MP", "-c", "scale.metal", "-o", "scale.air")
        self.assertEqual((self.folder / "x.dep").read_text(), "a b c\\ d: \\\n  scale.metal \\\n  factor.h\nfactor.h:\n")
        self.assertEqual(self.succeed("metal", "-MM", "scale.metal"), "scale.air: \\\n  scale.metal \\\n  factor.h\n")
        # No rule without an object: the build would believe it is up to date.
        self.write(bad_metal="nonsense\n")
        self.call("metal", "-MMD", "-c", "bad.metal", "-o", "bad.air")
        self.assertFalse((self.folder / "bad.d").exists())
        self.call("metal", "-MMD", "scale.metal", "bad.metal", "-o", "both.metallib")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith("both")], [])
        self.succeed("metal", "-MMD", "scale.metal", "-o", "both.metallib")
        self.assertTrue((self.folder / "both.d").read_text().startswith("both.metallib:"))

    def test_jobs_are_shown(self):
        said = self.call("metal", "-###", "scale.metal", "-o", "a b.metallib")
        self.assertEqual((said.returncode, said.stdout, (self.folder / "a b.metallib").exists()), (0, "", False))
        self.assertIn(f'{self.bin}/metal -triple air64-apple-macosx14.0.0 "-###" scale.metal -o "a b.metallib"', said.stderr)
        self.assertRegex(self.succeed("metal", "--version"), r"\Ametal version \d+\.\d+ .*\nTarget: air64-apple-macosx14.0.0\n")
        self.assertIn("metal version", self.call("metal", "-v").stderr)


class MessageTest(ToolTest):
    def test_errors_as_clang_has_them(self):
        self.write(bad_metal="kernel void k(device float* p) {\n  p[0] = foo(1);\n\tp[1] = bar;\n}\n")
        said = self.fail_with(1, "metal", "-c", "bad.metal", "-o", "bad.air")
        self.assertEqual(said, "bad.metal:2:10: error: use of undeclared identifier 'foo'\n  p[0] = foo(1);\n         ^\n"
                               "bad.metal:3:9: error: use of undeclared identifier 'bar'\n\tp[1] = bar;\n\t       ^\n2 errors generated.\n")
        self.assertFalse((self.folder / "bad.air").exists())
        coloured = self.fail_with(1, "metal", "-fcolor-diagnostics", "-c", "bad.metal", "-o", "bad.air")
        self.assertIn("\033[0;1;31merror: ", coloured)
        # The rest is compiled all the same.
        self.write(fill_metal=FILL)
        self.assertIn("2 errors", self.fail_with(1, "metal", "-c", "bad.metal", "fill.metal"))
        self.assertTrue((self.folder / "fill.air").exists())

    def test_warnings_are_told_each_time(self):
        self.write(w_metal="kernel void k(device float* p) {\n  int unused;\n  p[0] = 1;\n}\n")
        warning = "w.metal:2:7: warning: unused variable 'unused' [-Wunused-variable]\n  int unused;\n      ^\n1 warning generated.\n"
        for _ in range(2):  # the second is a hit
            self.succeed("metal", "-c", "w.metal", "-o", "w.air", stderr=warning)
        self.succeed("metal", "-w", "-c", "w.metal", "-o", "w.air")
        self.succeed("metal", "-Wno-unused-variable", "-Wno-metal-addr-spaces", "-c", "w.metal", "-o", "w.air")
        self.assertIn("error: unused variable 'unused' [-Werror,-Wunused-variable]\n", self.fail_with(1, "metal", "-Werror", "-c", "w.metal", "-o", "w.air"))

    def test_a_warning_that_there_is_not(self):
        self.write(f_metal=FILL)
        unknown = "unknown warning option '-Wbogus' [{}-Wunknown-warning-option]"
        for _ in range(2):
            self.succeed("metal", "-Wbogus", "-c", "f.metal", stderr=f"metal: warning: {unknown.format('')}\n")
        said = self.fail_with(1, "metal", "-Wbogus", "-Werror", "-c", "f.metal")
        self.assertIn(unknown.format("-Werror,"), said)
        self.assertIn("did you mean '-Wunused-variable'", self.call("metal", "-Wunused-variabel", "-c", "f.metal").stderr)
        self.succeed("metal", "-Wbogus", "-Wno-unknown-warning-option", "-c", "f.metal")

    def test_so_many_errors(self):
        self.write(e_metal="kernel void k(device float* p) {\n" + "".join(f"  p[0] = u{i};\n" for i in range(5)) + "}\n")
        said = self.fail_with(1, "metal", "-ferror-limit=2", "-c", "e.metal")
        self.assertEqual([line.split(": error: ")[1] for line in said.splitlines() if ": error: " in line],
                         ["use of undeclared identifier 'u0'", "use of undeclared identifier 'u1'",
                          "too many errors emitted, stopping now [-ferror-limit=]"])
        for option in ("-ferror-limit=0", "-ferror-limit=9", "-w"):
            self.assertIn("5 errors generated.", self.fail_with(1, "metal", option, "-c", "e.metal"))

    def test_how_a_header_was_reached(self):
        self.write(main_metal='#include <metal_stdlib>\n#include "outer.h"\n', outer_h='\n#include "inner.h"\nint o() { int mine; return qqqq; }\n',
                   inner_h="inline int i() { int unused; return absent; }\n")
        said = self.fail_with(1, "metal", "-c", "main.metal")
        self.assertIn("In file included from main.metal:2:\nIn file included from outer.h:2:\ninner.h:1:37: error: ", said.replace(f"{self.folder}/", "").replace("./", ""))
        self.assertEqual(said.count("In file included from main.metal:2:\n"), 2)
        self.assertIn("2 errors generated.", said)
        # Once for the messages that follow each other, and for warnings too.
        self.write(inner_h="inline int i() { return absent; }\ninline int j() { return gone; }\n", outer_h='#include "inner.h"\n')
        self.assertEqual(self.fail_with(1, "metal", "-c", "main.metal").count("In file included from main.metal"), 1)
        self.write(inner_h="inline int i() { int unused; return 1; }\ninline int j() { int unused; return 1; }\n",
                   main_metal='#include "outer.h"\n' + FILL)
        said = self.call("metal", "-c", "main.metal")
        self.assertEqual((said.returncode, said.stderr.count("In file included from main.metal"), said.stderr.count("[-Wunused-variable]")), (0, 1, 2), said.stderr)
        self.assertIn("2 warnings generated.", said.stderr)

    def test_serialised(self):
        """The bytes are read by Clang's own reader in tests/aot/compiler; here, that what was said is in them."""
        self.write(w_metal="kernel void k(device float* p) {\n  int unused;\n  p[0] = 1;\n}\n", e_metal="kernel void k(device float* p) { p[0] = gone; }\n")
        self.assertEqual(self.call("metal", "-serialize-diagnostics", "w.dia", "-c", "w.metal").returncode, 0)
        said = (self.folder / "w.dia").read_bytes()
        self.assertEqual(said[:4], b"DIAG")
        for word in (b"unused variable 'unused'", b"w.metal", b"unused-variable"):
            self.assertIn(word, said)
        self.fail_with(1, "metal", "--serialize-diagnostics", "e.dia", "-c", "e.metal")
        self.assertIn(b"use of undeclared identifier 'gone'", (self.folder / "e.dia").read_bytes())
        self.fail_with(1, "metal", "-serialize-diagnostics", "nowhere/e.dia", "-c", "e.metal")
        self.write(f_metal=FILL)
        self.succeed("metal", "-serialize-diagnostics", "f.dia", "-c", "f.metal")
        self.assertLess(len((self.folder / "f.dia").read_bytes()), 200)

    def test_the_drivers_own(self):
        self.assertEqual(self.fail_with(1, "metal"), "metal: error: no input files\n")
        self.assertEqual(self.fail_with(1, "metal", "no.metal"), "metal: error: no such file or directory: 'no.metal'\n")
        self.assertEqual(self.fail_with(1, "metal", "-fmetal-math-mod=safe"),
                         "metal: error: unknown argument '-fmetal-math-mod=safe'; did you mean '-fmetal-math-mode='?\n")
        self.assertEqual(self.fail_with(1, "metal", "-o"), "metal: error: argument to '-o' is missing (expected 1 value)\n")
        self.assertEqual(self.fail_with(1, "metallib"), "metallib: error: no input files\n")
        self.write(a_metal=FILL, b_metal=FILL)
        self.assertIn("cannot specify -o", self.fail_with(1, "metal", "-c", "a.metal", "b.metal", "-o", "c.air"))


class LinkTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write(scale_metal=SCALE, fill_metal=FILL, factor_h="#define FACTOR 3\n")
        self.succeed("metal", "-c", "scale.metal", "fill.metal")

    def test_one_of_each_name(self):
        said = self.fail_with(1, "metallib", "fill.air", "scale.air", "fill.air", "-o", "x.metallib")
        self.assertEqual(said, "metallib: error: duplicate symbol 'fill': in fill.air and in fill.air\n")
        self.succeed("metal", "fill.metal", "-o", "fill.metallib")
        self.assertIn("'fill' is already in fill.air", self.fail_with(1, "metallib", "fill.air", "fill.metallib", "-o", "x.metallib"))
        self.assertFalse((self.folder / "x.metallib").exists())

    def test_archives(self):
        self.succeed("metal-ar", "rcs", "libk.metalar", "scale.air", "fill.air")
        self.assertEqual(self.succeed("metal-ar", "t", "libk.metalar"), "scale.air\nfill.air\n")
        self.succeed("metallib", "libk.metalar", "-o", "k.metallib")
        self.assertEqual(self.kernels("k.metallib"), ["fill", "scale"])
        self.succeed("metal-ar", "d", "libk.metalar", "scale.air")
        self.succeed("metal-libtool", "-static", "-o", "lib2.metalar", "libk.metalar", "scale.air")
        self.assertEqual(self.succeed("metal-ar", "t", "lib2.metalar"), "fill.air\nscale.air\n")
        (self.folder / "scale.air").unlink()
        self.succeed("metal-ar", "x", "lib2.metalar", "scale.air")
        self.assertIn("T scale", self.succeed("metal-nm", "scale.air"))
        whole = (self.folder / "lib2.metalar").read_bytes()
        for size in (9, 20, 68, len(whole) // 2, len(whole) - 1):
            (self.folder / "cut.metalar").write_bytes(whole[:size])
            self.assertIn("cut.metalar", self.fail_with(1, "metallib", "cut.metalar", "-o", "x.metallib"), size)

    def test_targets_of_the_inputs(self):
        self.succeed("metal", "-mmacosx-version-min=15.0", "-c", "fill.metal", "-o", "fill.air")
        # Of several, the first is asked, as Apple's linker does it.
        for first, second, version in (("scale.air", "fill.air", "14.0.0"), ("fill.air", "scale.air", "15.0.0")):
            self.succeed("metallib", first, second, "-o", "first.metallib")
            self.assertIn(f"os {version}", self.succeed(SMELT, "inspect", "first.metallib"))
        self.succeed("metal", "-mmacosx-version-min=14.0", "scale.air", "fill.air", "-o", "asked.metallib")
        self.assertIn("os 14.0.0", self.succeed(SMELT, "inspect", "asked.metallib"))
        self.succeed("metal", "-mios-version-min=17.0", "-c", "fill.metal", "-o", "ios.air")
        self.assertIn("is for iOS", self.fail_with(1, "metallib", "scale.air", "ios.air", "-o", "x.metallib"))

    def test_what_is_no_object(self):
        self.write(noise_air="no bitcode", empty_air="")
        for name in ("noise.air", "empty.air", "absent.air"):
            self.assertIn(name, self.fail_with(1, "metallib", name, "-o", "x.metallib"))
        whole = (self.folder / "fill.air").read_bytes()
        for size in range(0, len(whole), 97):
            (self.folder / "cut.air").write_bytes(whole[:size])
            self.assertIn("cut.air", self.fail_with(1, "metallib", "cut.air", "-o", "x.metallib"), size)

    def test_a_source_without_kernels(self):
        self.write(helpers_metal="inline float two() { return 2; }\n")
        self.succeed("metal", "-c", "helpers.metal")
        self.succeed("metallib", "helpers.air", "fill.air", "-o", "x.metallib")
        self.assertEqual(self.kernels("x.metallib"), ["fill"])
        self.succeed("metallib", "helpers.air", "-o", "y.metallib",
                     stderr="warning: no input has a function for the library, so the library is empty\n1 warning generated.\n")
        self.assertIn("an empty library", self.succeed(SMELT, "verify", "y.metallib"))

    def archives(self, library):
        """What is recorded in a library: its archives by number, each a dictionary of files."""
        data = (self.folder / library).read_bytes()
        found = {}
        for place in re.finditer(rb"SARC(....)(\d+)\0BZh", data, re.S):
            payload = data[place.start(2) : place.end(1) + int.from_bytes(place[1], "little")]
            number, _, stream = payload.partition(b"\0")
            with tarfile.open(fileobj=io.BytesIO(bz2.decompress(stream))) as tar:
                found[int(number)] = {member.name: tar.extractfile(member).read() for member in tar}
                self.assertEqual({(m.mtime, m.uid, m.mode) for m in tar.getmembers()}, {(0, 0, 0o644)})
        return found

    def test_libarchive_is_opened_to_record_sources_alone(self):
        broken = self.folder / "lib"
        broken.mkdir()
        (broken / "libarchive.so.13").write_bytes(b"")
        self.succeed("metal", "-c", "scale.metal", LD_LIBRARY_PATH=str(broken))
        said = self.fail_with(1, "metal", "-frecord-sources", "-c", "fill.metal", LD_LIBRARY_PATH=str(broken))
        for word in ("sources cannot be recorded here", "libarchive.so.13", "Debian: libarchive13"):
            self.assertIn(word, said)

    def test_recorded_sources(self):
        self.succeed("metallib", "scale.air", "fill.air", "-o", "plain.metallib")
        self.succeed("metal", "-frecord-sources", "-c", "scale.metal", "fill.metal")
        self.assertEqual(self.succeed("metal-nm", "scale.air"), "---------------- T scale\n")
        self.succeed("metal-ar", "rcs", "lib.metalar", "fill.air")
        self.succeed("metallib", "scale.air", "lib.metalar", "-o", "with.metallib")
        self.assertEqual(self.kernels("with.metallib"), ["fill", "scale"])  # and verify finds nothing
        self.assertEqual(self.run_kernel("with.metallib", "scale"), (3,) * 4)
        self.assertIn("has sources of 2 compiles", self.fail_with(1, "metal-source", "with.metallib"))
        archives = self.archives("with.metallib")
        self.assertEqual(sorted(archives), [0, 1])
        folder = str(self.folder)
        self.assertEqual(archives[0][f"{folder}/scale.metal"].decode(), SCALE)
        self.assertEqual(archives[0][f"{folder}/factor.h"], b"#define FACTOR 3\n")
        self.assertEqual(archives[0]["metal-working-dir.txt"].decode(), folder + "\n")
        self.assertEqual(archives[0]["metal-options.txt"].decode(), f"{self.bin}/metal -frecord-sources -c scale.metal fill.metal\n")
        self.assertEqual(set(archives[1]), {"metal-options.txt", "metal-working-dir.txt", "original-input-filename.txt", f"{folder}/fill.metal"})
        self.assertIn(f"{self.bin}/metallib scale.air lib.metalar -o with.metallib".encode(), (self.folder / "with.metallib").read_bytes())
        whole = (self.folder / "fill.air").read_bytes()
        at = whole.index(b"SMLTSRC1")
        for size in (*range(at + 1, at + 20), len(whole) - 1):
            (self.folder / "cut.air").write_bytes(whole[:size])
            self.assertIn("cut.air: the sources that were recorded in it are not whole", self.fail_with(1, "metallib", "cut.air", "-o", "x.metallib"), size)
        # Sources go on through a further link; the code is that of a library without.
        self.succeed("metal", "with.metallib", "-o", "again.metallib")
        self.assertEqual(self.archives("again.metallib"), archives)
        self.succeed("metal", "-frecord-sources=flat", "with.metallib", "-o", "without.metallib",
                     stderr="metal: warning: -frecord-sources=flat: no companion file is written; the library is without sources\n")
        self.assertEqual(self.archives("without.metallib"), {})
        self.assertEqual((self.folder / "without.metallib").read_bytes(), (self.folder / "plain.metallib").read_bytes())
        # In one go, and twice the same bytes.
        for name in ("one", "two"):
            self.succeed("metal", "-frecord-sources=yes", "scale.metal", "-o", "s.metallib")
            (self.folder / "s.metallib").rename(self.folder / name)
        self.assertEqual((self.folder / "one").read_bytes(), (self.folder / "two").read_bytes())
        self.assertEqual(self.archives("one")[0][f"{folder}/scale.metal"].decode(), SCALE)
        for words in (("-frecord-sources", "-fno-record-sources"), ("-frecord-sources=no",)):
            self.succeed("metal", *words, "fill.metal", "-o", "f.metallib")
            self.assertEqual(self.archives("f.metallib"), {})
        self.assertIn("use yes, flat or no", self.fail_with(1, "metal", "-frecord-sources=all", "fill.metal"))

    def test_tools_that_look(self):
        self.succeed("metallib", "fill.air", "-o", "x.metallib")
        self.assertIn("kernel       AIR 2.6 Metal 3.1", self.succeed("metal-objdump", "--metallib", "x.metallib"))
        self.assertIn("define void @fill", self.succeed("metal-objdump", "-d", "x.metallib"))
        self.assertEqual(self.succeed("metal-lipo", "-info", "x.metallib"), "Non-fat file: x.metallib is architecture: air64\n")
        self.assertIn("no sources", self.fail_with(1, "metal-source", "x.metallib"))
        self.assertEqual(self.succeed("metal-config", "--bindir"), f"{self.bin}\n")
        self.assertIn("companions are not written", self.fail_with(1, "metal-dsymutil", "x.metallib"))

    def test_what_build_files_ask_of_a_mac(self):
        self.assertEqual(self.succeed("xcode-select", "-p"), f"{self.bin}\n")
        self.assertEqual(self.succeed("xcode-select", "--print-path"), f"{self.bin}\n")
        self.assertIn("no Xcode to select", self.fail_with(1, "xcode-select", "--install"))
        self.assertEqual(self.succeed("sw_vers", "-productVersion"), self.succeed("xcrun", "--show-sdk-version"))
        self.assertEqual(self.succeed("sw_vers", "--productName"), "macOS\n")
        self.assertRegex(self.succeed("sw_vers"), r"^ProductName: +macOS\nProductVersion: +[\d.]+\nBuildVersion: +smelt\n$")
        self.assertIn("-productVersion", self.fail_with(1, "sw_vers", "-kernel"))
        for tool in ("metal-tt", "metal-package-builder"):
            self.assertEqual(self.succeed("xcrun", "-f", tool), f"{self.bin}/{tool}\n")
            self.assertIn("ship the Metal library", self.fail_with(1, tool, "x.metallib", "-o", "y"))
        for option in ("-fembed-bitcode", "-fembed-bitcode=all"):
            self.succeed("metal", option, "-c", "fill.metal", "-o", "embedded.air")
        self.assertEqual((self.folder / "embedded.air").read_bytes(), (self.folder / "fill.air").read_bytes())

    def test_headers_and_sections(self):
        self.succeed("metal", "-frecord-sources", "fill.metal", "-o", "x.metallib")
        whole = (self.folder / "x.metallib").read_bytes()
        said = self.succeed("metal-objdump", "--macho", "--private-headers", "--section-headers", "x.metallib")
        for line in ("file format MetalLib", "  container  1.2.7", "  platform   macos", "  system     14.0.0", "  functions  1", f"  size       {len(whole)}"):
            self.assertIn(line + "\n", said)
        rows = {row[1]: (int(row[2], 16), int(row[3], 16)) for row in (line.split() for line in said.splitlines()) if row and row[0].isdigit()}
        self.assertEqual(rows["bitcode"], tuple(reversed(struct.unpack("<QQ", whole[72:88]))))
        size, offset = rows["sources"]
        self.assertIn(b"SARC", whole[offset:offset + size])
        self.assertNotIn("define void", said)
        read = self.succeed("metal-readobj", "--file-headers", "--sections", "--symbols", "x.metallib")
        for line in ("File: x.metallib", "Format: MetalLib", "Arch: air64", "Sections:", "---------------- T fill"):
            self.assertIn(line + "\n", read)
        self.assertIn("Format: AIR bitcode", self.succeed("metal-readobj", "fill.air"))
        self.assertIn("neither a Metal library nor an object", self.fail_with(1, "metal-readobj", "fill.metal"))
        self.assertIn("not a Metal library", self.fail_with(1, "metal-objdump", "--private-headers", "fill.air"))

    def test_sources_are_removed(self):
        self.succeed("metal", "fill.metal", "-o", "plain.metallib")
        plain = (self.folder / "plain.metallib").read_bytes()
        for words in (("-flat", "-remove-source"), ("--remove-source",)):
            self.succeed("metal", "-frecord-sources", "fill.metal", "-o", "x.metallib")
            self.assertNotEqual(self.archives("x.metallib"), {})
            self.succeed("xcrun", "-sdk", "macosx", "metal-dsymutil", *words, "x.metallib",
                         stderr="metal-dsymutil: warning: x.metallib: its sources are removed, and no symbol companion is written\n")
            self.assertEqual((self.folder / "x.metallib").read_bytes(), plain)
            self.succeed("metal-dsymutil", *words, "x.metallib")  # none are left
            self.assertEqual((self.folder / "x.metallib").read_bytes(), plain)
        self.succeed("metal", "-MO", "fill.metal", "-o", "mo.metallib")
        self.assertNotEqual(self.archives("mo.metallib"), {})
        self.call("metal-dsymutil", "-remove-source", "-o", "y.metallib", "mo.metallib")
        self.assertEqual((self.folder / "y.metallib").read_bytes(), plain)
        self.assertNotEqual(self.archives("mo.metallib"), {})
        self.assertIn("fill.air", self.fail_with(1, "metal-dsymutil", "-remove-source", "fill.air"))

    def test_without_links(self):
        self.succeed(SMELT, "toolchain-tool", "metallib", "fill.air", "-o", "x.metallib")
        self.assertEqual(self.kernels("x.metallib"), ["fill"])
        self.assertIn("want the name of a tool", self.fail_with(2, SMELT, "toolchain-tool", "gcc"))


if __name__ == "__main__":
    unittest.main()
