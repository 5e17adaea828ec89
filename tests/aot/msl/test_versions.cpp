// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a version of the language brought compiles from that version on, and is an error that names it before.
#include "msl.hpp"
#include "msl/facts/missing_features.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace smelt::test {
namespace {

constexpr aot::Version kLanguages[] = {{2, 3, 0}, {2, 4, 0}, {3, 0, 0}, {3, 1, 0}, {3, 2, 0}, {4, 0, 0}, {4, 1, 0}};

const std::string kLines = "#include <metal_stdlib>\nusing namespace metal;\n";

aot::CompileOptions of(aot::Version language) {
  aot::CompileOptions options = msl_options();
  options.targets = {aot::newest_target()};
  options.language = language;
  return options;
}

/// A statement in a kernel with a buffer `x` of floats and one `n` of unsigned numbers.
std::string in_kernel(const std::string& statement) {
  return kLines + "kernel void k(device float* x, device uint* n) {\n  " + statement + "\n}\n";
}

const std::string kLog = "os_log_default.log(\"x\"); x[0] = 1;";
const std::string kFence = "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst); x[0] = 1;";
const std::string kOrder = "n[0] = atomic_load_explicit((device atomic_uint*)n, ";

/// Names, each with a use of it.
const std::map<std::string, std::string>& uses() {
  static const std::map<std::string, std::string> all = {
      {"atomic_bool", in_kernel("x[0] = atomic_load_explicit((device atomic_bool*)n, memory_order_relaxed);")},
      {"atomic_ulong", in_kernel("atomic_max_explicit((device atomic_ulong*)n, 1ul, memory_order_relaxed);")},
      {"atomic_float", in_kernel("x[0] = atomic_load_explicit((device atomic_float*)n, memory_order_relaxed);")},
      {"mesh", kLines + "struct V { float4 at [[position]]; };\n"
                        "[[mesh]] void m(mesh<V, void, 3, 1, topology::triangle> to) { to.set_primitive_count(0); }\n"},
      {"mesh_grid_properties",
       kLines + "[[object]] void o(mesh_grid_properties grid) { grid.set_threadgroups_per_grid(uint3(1)); }\n"},
      {"topology", in_kernel("constexpr topology t = topology::point; x[0] = int(t);")},
      {"nextafter", in_kernel("x[0] = nextafter(x[1], x[2]);")},
      {"coherent", kLines + "kernel void k(device coherent(device) float* x) { x[0] = 1; }\n"},
      {"atomic_thread_fence", in_kernel(kFence)},
      {"thread_scope", in_kernel("constexpr thread_scope s = thread_scope(2); x[0] = s;")},
      {"thread_scope_thread", in_kernel("x[0] = thread_scope_thread;")},
      {"thread_scope_simdgroup", in_kernel("x[0] = thread_scope_simdgroup;")},
      {"thread_scope_threadgroup", in_kernel("x[0] = thread_scope_threadgroup;")},
      {"thread_scope_device", in_kernel("x[0] = thread_scope_device;")},
      {"memory_order_seq_cst", in_kernel("x[0] = memory_order_seq_cst;")},
      {"memory_order_acquire", in_kernel(kOrder + "memory_order_acquire, mem_flags::mem_device);")},
      {"memory_order_release", in_kernel("atomic_thread_fence(mem_flags::mem_device, memory_order_release);")},
      {"memory_order_acq_rel", in_kernel("threadgroup_barrier(mem_flags::mem_device, memory_order_acq_rel, "
                                         "thread_scope_device); x[0] = 1;")},
      {"os_log", in_kernel("os_log log(\"a\", \"b\"); log.log(\"x\"); x[0] = 1;")},
      {"os_log_default", in_kernel(kLog)},
      {"log_type", in_kernel("constexpr log_type t = log_type(0); x[0] = t;")},
      {"log_type_debug", in_kernel("x[0] = log_type_debug;")},
      {"log_type_info", in_kernel("x[0] = log_type_info;")},
      {"log_type_default", in_kernel("x[0] = log_type_default;")},
      {"log_type_error", in_kernel("x[0] = log_type_error;")},
      {"log_type_fault", in_kernel("x[0] = log_type_fault;")},
      {"depth_stencil_state", kLines + "struct D { depth_stencil_state s; }; kernel void k(device D& d) {}\n"},
      {"depth_clip_mode", in_kernel("x[0] = int(depth_clip_mode::clamp);")},
      {"triangle_fill_mode", in_kernel("x[0] = int(triangle_fill_mode::lines);")},
      {"cull_mode", in_kernel("x[0] = int(cull_mode::back);")},
      {"pack_float_to_snorm10a2", in_kernel("n[0] = pack_float_to_snorm10a2(float4(x[0]));")},
      {"pack_half_to_snorm10a2", in_kernel("n[0] = pack_half_to_snorm10a2(half4(x[0]));")},
      {"unpack_snorm10a2_to_float", in_kernel("x[0] = unpack_snorm10a2_to_float(n[0]).x;")},
      {"unpack_snorm10a2_to_half", in_kernel("x[0] = unpack_snorm10a2_to_half(n[0]).x;")},
  };
  return all;
}

}  // namespace

TEST_CASE("a name is there from its version on, and named with it before") {
  for (const auto& [name, since] : aot::msl::versioned_names()) {
    const auto use = uses().find(std::string(name));
    REQUIRE_MESSAGE(use != uses().end(), "a name of the table has no use in this test: " << std::string(name));
    CAPTURE(use->second);
    const auto made = compile_msl(use->second, of(since));
    CHECK_MESSAGE(made.has_value(), (made ? "" : made.error().message));
    // Names that come together are told by the first.
    const auto newest_before = std::find(std::begin(kLanguages), std::end(kLanguages), since) - 1;
    REQUIRE(newest_before >= std::begin(kLanguages));
    const std::string message = msl_error(use->second, of(*newest_before));
    CHECK_MESSAGE(message.find("' needs Metal " + to_string(since) + ", and this is compiled as Metal " +
                               to_string(*newest_before)) != std::string::npos,
                  message);
  }
}

TEST_CASE("additions of floats in threadgroup memory are of Metal 4.1") {
  const std::string text = kLines +
                           "kernel void k(device float* x, threadgroup atomic_float* t [[threadgroup(0)]]) {\n"
                           "  x[0] = atomic_fetch_add_explicit(t, 1.0f, memory_order_relaxed);\n}\n";
  CHECK(compile_msl(text, of({4, 1, 0})).has_value());
  CHECK(msl_error(text, of({4, 0, 0})).find("no matching function") != std::string::npos);
}

}  // namespace smelt::test
