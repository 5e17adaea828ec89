# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command lines with which projects compile vertex and fragment functions, word for word as their sources write them: each test
names the project and the file. Paths are the tests' own."""

import unittest

from tools import ToolTest

# As SPIRV-Cross writes them, of which most of these projects are fed.
VERTEX = """#pragma clang diagnostic ignored "-Wmissing-prototypes"
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;
struct vs_params { float4x4 mvp; };
struct main0_out { float4 color [[user(locn0)]]; float4 gl_Position [[position]]; };
struct main0_in { float4 position [[attribute(0)]]; float4 color0 [[attribute(1)]]; };
vertex main0_out main0(main0_in in [[stage_in]], constant vs_params& _19 [[buffer(0)]]) {
  main0_out out = {};
  out.gl_Position = _19.mvp * in.position;
  out.color = in.color0;
  return out;
}
"""
FRAGMENT = """#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;
struct main0_out { float4 frag_color [[color(0)]]; };
struct main0_in { float4 color [[user(locn0)]]; };
fragment main0_out main0(main0_in in [[stage_in]], texture2d<float> tex [[texture(0)]], sampler smp [[sampler(0)]]) {
  main0_out out = {};
  out.frag_color = in.color * tex.sample(smp, in.color.xy);
  return out;
}
"""


class ProjectTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write(shader_metal=VERTEX, frag_metal=FRAGMENT)

    def build(self, *words, **more):
        """Exit 0, and nothing said but that the system asked for is older than any that smelt supports."""
        made = self.call(*words, **more)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        self.assertRegex(made.stdout + made.stderr, r"\A(metal: warning: \w+ [\d.]+ is older than any that smelt supports; [^\n]*\n)?\Z")

    def check_library(self, library, names=("main0",)):
        """It verifies and has these functions."""
        self.assertEqual(self.kernels(library), sorted(names))

    def test_slang(self):
        # shader-slang/slang, source/compiler-core/slang-metal-compiler.cpp and slang-gcc-compiler-util.cpp: off a Mac `metal` on PATH is
        # asked for its version by -v; its second number must be there. "-target metallib" then is one call without -c.
        asked = self.call("metal", "-v")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertRegex(asked.stderr, r"Apple metal version \d+\.\d+")
        self.succeed("metal", "-std=metal3.1", "-fno-strict-aliasing", "-Os", "-o", "slang-1234.metallib", self.folder / "shader.metal")
        self.check_library("slang-1234.metallib")
        self.succeed("metal", "-std=metal3.1", "-fno-strict-aliasing", "-O3", "-g", "-ffast-math", "-o", "slang-5.metallib", "-DX=1", "-I",
                     self.folder, self.folder / "frag.metal")  # fmt: skip
        self.check_library("slang-5.metallib")
        # -target metallib-asm: the library, disassembled.
        self.assertIn("main0", self.succeed("metal-objdump", "--disassemble", "slang-1234.metallib"))

    def test_sdl_shadercross(self):
        # libsdl-org/SDL_shadercross writes .metal alone; issue 39 there has the two commands that follow.
        self.build("xcrun", "-sdk", "macosx", "metal", "-c", "shader.metal", "-O3", "-ffast-math", "-flto", "-mmacosx-version-min=11.0", "-Wall",
                     "-Werror", "-o", "tmp.air")  # fmt: skip
        self.succeed("xcrun", "-sdk", "macosx", "metallib", "tmp.air", "-o", "output.metallib")
        self.check_library("output.metallib")

    def test_sdl(self):
        # libsdl-org/SDL, src/render/metal/build-metal-shaders.sh. It names the tools by their folder inside of Xcode.
        self.build("metal", "-std=osx-metal1.1", "-Wall", "-O3", "-o", "./sdl.air", "./shader.metal")
        self.succeed("metal-ar", "rc", "sdl.metalar", "sdl.air")
        self.succeed("metallib", "-o", "sdl.metallib", "sdl.metalar")
        self.check_library("sdl.metallib")

    def test_sokol_shdc(self):
        # floooh/sokol-tools, src/shdc/bytecode.cc: xcrun(), mtl_cc() and mtl_link(), for macOS and for iOS.
        for sdk, least in (("macosx", "-mmacosx-version-min=10.11 -std=osx-metal1.1"), ("iphoneos", "-miphoneos-version-min=9.0 -std=ios-metal1.0")):
            for name in ("shader", "frag"):
                with self.subTest(sdk=sdk, name=name):
                    made = self.call("sh", "-c", f"xcrun --sdk {sdk} metal -arch air64 -emit-llvm -ffast-math -c -serialize-diagnostics {name}.dia -o "
                                     f"{name}.air {least} {name}.metal 2>&1")  # fmt: skip
                    self.assertEqual(made.returncode, 0, made.stdout)
                    self.assertEqual((self.folder / f"{name}.dia").read_bytes()[:4], b"DIAG")
                    self.succeed("sh", "-c", f"xcrun --sdk {sdk} metallib -o {name}.metallib {name}.air 2>&1")
                    self.check_library(f"{name}.metallib")
        # mtl_parse_errors() splits "FILE:LINE:COLUMN: error: text" at the colons.
        self.write(shader_metal=VERTEX.replace("in.color0", "in.colour0"))
        said = self.call("sh", "-c", "xcrun --sdk macosx metal -arch air64 -emit-llvm -ffast-math -c -serialize-diagnostics s.dia -o s.air "
                         "-mmacosx-version-min=10.11 -std=osx-metal1.1 shader.metal 2>&1")  # fmt: skip
        errors = [line.split(":") for line in said.stdout.splitlines() if len(line.split(":")) > 4 and line.split(":")[3] == " error"]
        self.assertEqual([(int(words[1]), "colour0" in words[4]) for words in errors], [(11, True)], said.stdout)

    def test_godot_baker(self):
        # godotengine/godot, drivers/metal/rendering_shader_container_metal.mm: what the toolchain is, a library in one call, and its
        # sources taken out. Godot names /usr/bin/xcrun, where a link to the folder's has to stand.
        words = self.succeed("sh", "-c", "echo '' | xcrun -sdk macosx metal -mmacosx-version-min=12.0 -E -dM -x metal - | grep -E "
                             "'(__METAL_VERSION__|__ENVIRONMENT_OS)'")  # fmt: skip
        macros = dict(line.removeprefix("#define ").split(" ") for line in words.splitlines())
        self.assertEqual(macros, {"__METAL_VERSION__": "240", "__ENVIRONMENT_OS_VERSION_MIN_REQUIRED__": "120000"})
        for sdk, least in (("macosx", "-mmacosx-version-min=12.0"), ("iphoneos", "-mios-version-min=16.0")):
            self.succeed("xcrun", "-sdk", sdk, "metal", "-O3", least, "-fpreserve-invariance", "-fmetal-math-mode=fast",
                         self.folder / "shader.metal", "-o", self.folder / "result.metallib")  # fmt: skip
            self.succeed("xcrun", "-sdk", sdk, "metal-dsymutil", "--remove-source", self.folder / "result.metallib")
            self.check_library("result.metallib")

    def test_angle(self):
        # google/angle, src/libANGLE/renderer/metal/shaders/gen_mtl_internal_shaders.py as of 966a62cb (2020), when ANGLE's default shaders
        # came compiled: gen_precompiled_shaders(), for three systems. Since then its build writes source alone.
        (self.folder / "compiled").mkdir()
        self.write(two_metal=FRAGMENT.replace("main0", "second"))
        for sdk, least in (("macosx", "-mmacosx-version-min=10.13"), ("iphoneos", "-mios-version-min=11.0"), ("iphonesimulator", "")):
            for flags in ("", "-gline-tables-only -MO"):
                with self.subTest(sdk=sdk, flags=flags):
                    for name in ("shader.metal", "two.metal"):
                        self.build("sh", "-c", f"xcrun -sdk {sdk} metal {least} {flags} {name} -c -o compiled/default.{name}.air")
                    self.build("sh", "-c", f"xcrun -sdk {sdk} metallib  compiled/default.shader.metal.air compiled/default.two.metal.air -o "
                               "compiled/default.metallib")  # fmt: skip
                    self.check_library("compiled/default.metallib", ("main0", "second"))

    def test_flutter_impeller(self):
        # flutter/flutter, engine/src/flutter/impeller/tools/metal_library.py: a library of several sources that impellerc wrote, with a
        # file of what it depends on, for three platforms; --debug adds the last words.
        self.write(two_metal=FRAGMENT.replace("main0", "second"))
        for sdk, language in (("macosx", ["--std=macos-metal2.1", "-mmacos-version-min=10.14"]),
                              ("iphoneos", ["--std=ios-metal2.1", "-mios-version-min=11.0"]),
                              ("iphonesimulator", ["--std=ios-metal2.1", "-miphonesimulator-version-min=11.0"])):  # fmt: skip
            for sources in (["-frecord-sources=flat"], ["-g", "-frecord-sources"]):
                with self.subTest(sdk=sdk, sources=sources):
                    made = self.call("xcrun", "-sdk", sdk, "metal", "-Wno-unused-variable", "-MMD", "-Oz", "-ffast-math", "-MF", "gen.depfile", "-o",
                                     "gen.metallib", *sources, *language, "shader.metal", "two.metal")  # fmt: skip
                    self.assertEqual(made.returncode, 0, made.stderr)
                    self.check_library("gen.metallib", ("main0", "second"))
                    self.assertIn("gen.metallib:", (self.folder / "gen.depfile").read_text())

    def test_swift_package_manager(self):
        # swiftlang/swift-build, Sources/SWBApplePlatform/Specs/MetalCompiler.xcspec and MetalLinker.xcspec, with the defaults of a debug
        # build of a package (MTL_ENABLE_DEBUG_INFO=INCLUDE_SOURCE) and of a release.
        sdk = self.succeed("xcrun", "--sdk", "macosx", "--show-sdk-path").strip()
        (self.folder / "products/include").mkdir(parents=True)
        for debug in (["-gline-tables-only", "-frecord-sources"], []):
            with self.subTest(debug=debug):
                self.succeed("metal", "-c", "-target", "air64-apple-macos14.0", *debug, "-I" + str(self.folder / "products/include"),
                             "-F" + str(self.folder / "products"), "-isysroot", sdk, "-fmetal-math-mode=fast", "-fmetal-math-fp32-functions=fast",
                             "-serialize-diagnostics", "shader.dia", "-o", "shader.air", "-index-store-path", self.folder / "index",
                             "-index-ignore-system-symbols", "-index-ignore-pcms", "-MMD", "-MT", "dependencies", "-MF", "shader.dat",
                             self.folder / "shader.metal")  # fmt: skip
                self.assertTrue((self.folder / "shader.dat").read_text().startswith("dependencies:"))
                self.succeed("metal", "-target", "air64-apple-macos14.0", *debug[1:], "-o", "default.metallib", "shader.air", SDKROOT=sdk)
                self.check_library("default.metallib")

    def test_zed(self):
        # zed-industries/zed, crates/gpui_macos/build.rs: a header that cbindgen wrote, by -include.
        self.write(scene_h="#ifndef SCENE_H\n#define SCENE_H\ntypedef struct Uniforms { float scale; } Uniforms;\n#endif\n",
                   shaders_metal=VERTEX.replace("float4x4 mvp;", "float4x4 mvp; Uniforms more;"))  # fmt: skip
        self.build("xcrun", "-sdk", "macosx", "metal", "-gline-tables-only", "-mmacosx-version-min=10.15.7", "-MO", "-c", "./shaders.metal",
                     "-include", self.folder / "scene.h", "-o", self.folder / "shaders.air")  # fmt: skip
        self.succeed("xcrun", "-sdk", "macosx", "metallib", self.folder / "shaders.air", "-o", self.folder / "shaders.metallib")
        self.check_library("shaders.metallib")


if __name__ == "__main__":
    unittest.main()
